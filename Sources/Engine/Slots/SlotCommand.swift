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
