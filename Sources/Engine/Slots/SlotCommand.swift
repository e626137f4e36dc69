package import Cron
package import Ledger
package import Timeline

/// A change of a job, asked of the slot keeper.
package enum JobEdit: Hashable, Sendable {
    /// Makes a job; refused when there is one of that name.
    case add(JobSpec, origin: JobOrigin, place: String? = nil)
    /// Makes the spec the job's newest revision; refused when it is not at `revision` any more.
    case revise(JobSpec, of: Int)
    /// Makes the spec the job's newest revision, or the job itself.
    case put(JobSpec, origin: JobOrigin, place: String?)
    case remove(String)
    case pause(String, note: String?)
    case resume(String)

    package var job: String {
        switch self {
        case .add(let spec, _, _), .revise(let spec, _), .put(let spec, _, _): spec.name
        case .remove(let name), .pause(let name, _), .resume(let name): name
        }
    }
}

/// A run asked for by a person or a program, not by the clock.
package struct RequestedRun: Hashable, Sendable {
    package var job: String
    package var kind: RunKind
    /// See ``RunCause``; the same cause never makes a second run.
    package var cause: String
    /// Runs although another run of the job has not ended.
    package var force: Bool
    /// The run it repeats.
    package var retryOf: String?
    /// What to do, for a run that belongs to no stored job.
    package var spec: JobSpec?

    package init(
        job: String, kind: RunKind, cause: String, force: Bool = false, retryOf: String? = nil,
        spec: JobSpec? = nil
    ) {
        self.job = job
        self.kind = kind
        self.cause = cause
        self.force = force
        self.retryOf = retryOf
        self.spec = spec
    }
}

extension RunCause {
    /// What the causes of runs by hooks begin with.
    static let hookLead = "hook:"

    /// A delivery of a hook: 32 hexadecimal digits, the same for each repetition.
    package static func hook(_ delivery: String) -> String { hookLead + delivery }
}

/// The outcome of a request.
package enum RequestOutcome: Sendable {
    /// A new run, queued.
    case queued(RunRecord)
    /// The run that this cause made before.
    case known(RunRecord)
    /// Refused by the overlap policy: these runs have not ended.
    case busy([String])
    case noSuchJob
}

/// What others ask of the keeper of slots, with who waits for the answer.
enum SlotCommand {
    typealias Caller<Answer: Sendable> = CheckedContinuation<Result<Answer, EngineError>, Never>

    case change([JobEdit], with: [Change], Caller<[JobRecord]>)
    case request(RequestedRun, Caller<RequestOutcome>)
    case takeUp([JobEdit], Caller<[JobRecord]>)
    case boot(String, Caller<Void>)

    /// The keeper stops: it is not done.
    fileprivate func refuse() {
        switch self {
        case .change(_, _, let caller), .takeUp(_, let caller): caller.resume(returning: .failure(.stopping))
        case .request(_, let caller): caller.resume(returning: .failure(.stopping))
        case .boot(_, let caller): caller.resume(returning: .failure(.stopping))
        }
    }
}

/// The commands that wait for the keeper of slots, in order.
struct SlotCommands {
    private var waiting: [SlotCommand] = []
    /// Whether the keeper has stopped: whoever asks is refused.
    private(set) var isStopped = false

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ command: SlotCommand) { waiting.append(command) }

    mutating func takeAll() -> [SlotCommand] {
        defer { waiting = [] }
        return waiting
    }

    /// Takes the first command to take up the jobs of the files, before all others; nil: there is none.
    mutating func removeTakeUp() -> (edits: [JobEdit], caller: SlotCommand.Caller<[JobRecord]>)? {
        let place = waiting.firstIndex { if case .takeUp = $0 { true } else { false } }
        guard let place, case .takeUp(let edits, let caller) = waiting.remove(at: place) else { return nil }
        return (edits, caller)
    }

    /// The keeper stops: refuses what waits and what comes.
    mutating func refuse() {
        isStopped = true
        for command in takeAll() { command.refuse() }
    }
}

/// A job as it is shown: its record, and where its schedule stands.
package struct ScheduledJob: Sendable {
    package var record: JobRecord
    package var schedule: Schedule
    package var zones: ScheduleZones
    /// The slot that comes next; nil: none will.
    package var next: Moment?
    /// Why it can't be scheduled (a zone that the machine no longer knows); nil: it can.
    package var fault: String?
}

/// What there is to say of all jobs at once.
package struct SlotSummary: Sendable {
    /// How many jobs are active.
    package var jobs: Int
    /// The slot that comes next, of all jobs that are not paused; nil: none will.
    package var next: (slot: Moment, job: String)?
    /// Why some jobs can't be scheduled, by name.
    package var faults: [String: String]
    /// How many runs have not ended, those that wait included.
    package var active: Int
    /// The release of the zone data that slots follow, such as `2025b`; nil: not known.
    package var tzdata: String?
    /// Whether slots wait because the clock of a machine that has just started is not set yet.
    package var isHeld: Bool
    /// The clock went back, and up to here every slot is decided already; nil: it did not.
    package var behind: Moment?
    /// The earliest slot that could not be recorded in time; nil: all are.
    package var late: Moment?
    /// By how much the clock went back when a new era began, within the last day; nil: none did.
    package var setBack: Duration?
}

/// What the keeper of slots waits for before it decides anything.
struct SlotStart {
    /// Ends once it is known which runs of an earlier daemon are still under way; nil: it is known.
    let news: AsyncStream<Never>?
    /// Whether nothing is decided yet, because the jobs of the files have not been taken up.
    private(set) var awaitsJobs: Bool

    init(news: AsyncStream<Never>?, awaitsJobs: Bool) {
        self.news = news
        self.awaitsJobs = awaitsJobs
    }

    /// The jobs of the files are loaded.
    mutating func noteJobs() { awaitsJobs = false }

    /// Waits until it is known which runs of an earlier daemon have ended, but not for ever.
    ///
    /// One that ended while no daemon was up would pass for one at work, and its job would skip slots for nothing.
    func waitForNews(on clock: any WallClock) async throws {
        guard let news else { return }
        let limit = clock.now + SlotKeeper.newsLimit
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in news {} }
            group.addTask { try await clock.sleep(until: limit) }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}

// What is known of jobs, for those who ask.

extension SlotKeeper {
    /// How many jobs are read from the ledger at once.
    package static let page = 1000

    /// Whether a job of that name is active.
    package func isJob(_ name: String) -> Bool { book.contains(name) }

    /// The names of the active jobs, in no order.
    package func names() -> [String] { Array(book.names) }

    /// The names of those that files describe, in no order.
    package func namesOfFiles() -> [String] { book.namesOfFiles }

    /// How many jobs each bot has.
    package func countsOfBots() -> [String: Int] { book.countsOfBots }

    /// An active job, with its next slot.
    package func entry(_ name: String) async throws(LedgerError) -> ScheduledJob? {
        guard book.contains(name), let record = try await ledger.job(named: name) else { return nil }
        return scheduled(record)
    }

    /// The first ``page`` active jobs that come after `name`, in the order of names; none: there are no more.
    package func entries(after name: String) async throws(LedgerError) -> [ScheduledJob] {
        var last = name
        while true {
            let records = try await ledger.jobs(after: last, limit: Self.page)
            let found = records.compactMap(scheduled)
            guard found.isEmpty, let end = records.last?.name else { return found }
            last = end
        }
    }

    /// The record with where the book stands; nil when the job is not active yet, or no longer.
    private func scheduled(_ record: JobRecord) -> ScheduledJob? {
        guard let entry = book[record.name] else { return nil }
        let read = try? record.spec.schedule.read(
            seed: record.name, since: record.since, begunBy: clock.now, zones: schedules.zones)
        let (schedule, zones) = read ?? (.manual, ScheduleZones(.utc))
        return ScheduledJob(
            record: record, schedule: schedule, zones: zones, next: entry.next,
            fault: schedules.faults[record.name])
    }

    /// The crowd in the second of a job's next slot; nil when it is not worth a word, or the job has a spread.
    ///
    /// - Complexity: O(jobs).
    package func crowd(around name: String) -> SlotCrowd? {
        guard book.count > SlotCrowd.limit, let entry = book[name], let second = entry.next?.seconds,
            !entry.isPaused, entry.policies.spread == .zero
        else { return nil }
        let count = book.crowd(inSecond: second)
        return count > SlotCrowd.limit ? SlotCrowd(moment: Moment(seconds: second), count: count) : nil
    }

    /// The largest crowd ahead; nil when none is worth a word.
    ///
    /// - Complexity: O(jobs).
    package func largestCrowd() -> SlotCrowd? {
        SlotCrowd.largest(of: book.crowds, after: clock.now)
    }
}

// What is asked of all jobs at once.

extension JobBook {
    /// The names of the jobs of files, in no order.
    var namesOfFiles: [String] { rows.indices.filter { rows[$0].origin == .file }.map { queue.name(at: $0) } }

    /// The names of the jobs that run once after each start of the machine, in their order.
    var namesOfStarts: [String] {
        let isStart = (0..<schedules.count).map { schedules[UInt32($0)].startupDelay != nil }
        return rows.indices.filter { isStart[Int(rows[$0].schedule)] }.map { queue.name(at: $0) }.sorted()
    }

    /// How many jobs each bot has.
    var countsOfBots: [String: Int] {
        (0..<UInt32(policies.count)).reduce(into: [:]) { counts, place in
            let jobs = policies.uses(of: place)
            if jobs > 0 { counts[policies[place].bot, default: 0] += jobs }
        }
    }

    /// The schedules of jobs whose runs start with their slots and that are not paused, each with how many jobs.
    var crowds: [(schedule: Schedule, zones: ScheduleZones, jobs: Int)] {
        var counts = [Int](repeating: 0, count: schedules.count)
        for row in rows where isPrompt(row) { counts[Int(row.schedule)] += 1 }
        return counts.indices.filter { counts[$0] > 0 }.map { place in
            let schedule = schedules[UInt32(place)]
            return (schedule, zones(of: schedule), counts[place])
        }
    }

    /// How many of those jobs have a slot in the second `second` after the epoch.
    func crowd(inSecond second: Int64) -> Int {
        let onTime = crowds.filter { $0.schedule.hasSlot(inSecond: second, in: $0.zones) }.map(\.jobs)
        let chained = chains.keys.count { name in
            queue.place(of: name).map { isPrompt(rows[$0]) && queue.slot(at: $0)?.seconds == second } ?? false
        }
        return onTime.reduce(chained, +)
    }

    private func isPrompt(_ row: Row) -> Bool { !row.isPaused && policies[row.policies].spread == .zero }
}
