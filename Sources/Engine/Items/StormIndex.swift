import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// The storms there are, found by their jobs and by what the failures have in common.
///
/// A copy of what the items of storms hold: these are awake as long as there is one.
struct StormIndex {
    private var storms: [Int: Storm] = [:]
    private var byJob: [String: Int] = [:]
    private var byCause: [FailureCause: Int] = [:]
    /// The jobs that may soon be listed, and are shown by themselves so far.
    private(set) var forming: Set<String> = []

    /// The number of the storm, or of what may become one, that a job is in.
    func number(of job: String) -> Int? { byJob[job] }

    /// The storm that a failure of this cause joins at this moment; nil: it begins another.
    func open(_ cause: FailureCause, at now: Moment) -> Int? {
        byCause[cause].flatMap { storms[$0]?.isOpen(at: now) == true ? $0 : nil }
    }

    /// What the failures of a storm have in common.
    func cause(of number: Int) -> FailureCause? { storms[number]?.cause }

    /// The jobs that are in a storm, or in what may become one.
    var jobs: Set<String> { Set(byJob.keys) }

    /// The jobs of a storm, in the order of their first failures.
    func jobs(of number: Int) -> [String] { storms[number]?.members.map(\.job) ?? [] }

    /// Whether it is shown as one.
    func isFormed(_ number: Int) -> Bool { storms[number]?.isFormed ?? false }

    /// The lowest numbers that are free.
    func free(_ count: Int) -> [Int] {
        var free: [Int] = []
        var number = 1
        while free.count < count {
            if storms[number] == nil { free.append(number) }
            number += 1
        }
        return free
    }

    /// Whether an item must be at hand though no event names it.
    func keepsAwake(_ item: KeptItem) -> Bool {
        if item.flushAt != nil || item.isAtWork { return true }
        guard case .job(let job) = item.key else { return false }
        return forming.contains(job)
    }

    /// Takes over what the record of an item holds.
    mutating func read(_ record: ItemRecord) {
        guard case .storm(let number) = record.key else { return }
        set(KeptItem(record, bot: OwnThread.bot).storm, for: number)
    }

    /// Takes over what an item holds now; nil: its number is free.
    ///
    /// - Complexity: O(jobs of the storm).
    mutating func set(_ storm: Storm?, for number: Int) {
        if let old = storms[number] {
            for member in old.members where byJob[member.job] == number {
                byJob[member.job] = nil
                forming.remove(member.job)
            }
            if byCause[old.cause] == number { byCause[old.cause] = nil }
        }
        storms[number] = storm
        guard let storm else { return }
        for member in storm.members {
            byJob[member.job] = number
            if !storm.isFormed { forming.insert(member.job) }
        }
        byCause[storm.cause] = number
    }
}

// Jobs that fail alike.

extension ItemTurn {
    /// Counts the end of a run among those that failed alike, before the job's own item decides.
    ///
    /// Returns whether the item of a storm lists it.
    mutating func countStorm(_ fact: JobFact, of run: RunRecord, _ matter: Matter, by event: Int64) -> Bool {
        let current = storms.number(of: run.job)
        if fact.state == .completed {
            guard let current else { return false }
            defer { leaveStorm(current, run.job, isWell: true, by: event) }
            return storms.isFormed(current)
        }
        // What whoever ran it asked for is about this one command, a job's own wish about all its runs; and a job that
        // was removed never recovers.
        let isCounted = matter.wish == nil || matter.wish?.names(matter.type) == true
        let isAlone = !isCounted || input.removedJobs.contains(run.job)
        guard fact.state.isFailure, !isAlone, jobPolicy.hears.contains(.failed) else {
            return current.map(storms.isFormed) ?? false
        }
        let cause = FailureCause(fact)
        if let current, storms.cause(of: current) != cause {
            leaveStorm(current, run.job, isWell: false, by: event)
        }
        let known = storms.number(of: run.job) ?? storms.open(cause, at: now)
        guard let number = known ?? storms.free(1).first else { return false }
        joinStorm(number, fact, of: run, by: event)
        return storms.isFormed(number)
    }

    private mutating func joinStorm(_ number: Int, _ fact: JobFact, of run: RunRecord, by event: Int64) {
        let (now, labels) = (now, input.specs[run.id]?.labels ?? [:])
        let wasFormed = storms.isFormed(number)
        updateStorm(number, by: event) { $0.fail(run.job, fact, labels: labels, at: now) }
        guard !wasFormed, storms.isFormed(number) else { return }
        for job in storms.jobs(of: number) where job != run.job {
            update(.job(job), bot: run.bot) { item in
                item.isListed = true
                return item.stepAside()
            }
        }
    }

    private mutating func leaveStorm(_ number: Int, _ job: String, isWell: Bool, by event: Int64) {
        let now = now
        updateStorm(number, by: event) { $0.end(job, isWell: isWell, at: now) }
    }

    /// A job was removed: it neither fails nor recovers any more.
    mutating func leaveStorm(_ job: String) {
        let now = now
        guard let number = storms.number(of: job) else { return }
        updateStorm(number) { $0.end(job, isWell: false, at: now) }
    }

    /// Wakes a storm whose moment has come.
    mutating func wakeStorm(_ number: Int) {
        let now = now
        updateStorm(number) { $0.wake(at: now) }
        update(.storm(number), bot: OwnThread.bot) { $0.endHolds(at: now) }
    }

    private mutating func updateStorm(
        _ number: Int, by event: Int64? = nil, _ decide: (inout StormItem) -> [ItemAction]
    ) {
        let key = ItemKey.storm(number)
        update(key, bot: OwnThread.bot, by: event) { $0.decideStorm(decide) }
        storms.set(items[key]?.storm, for: number)
    }

    /// Whether a version of a job's item gives way to the item of a storm on this channel, or on all.
    func givesWay(_ item: KeptItem, _ snapshot: ItemSnapshot, on channel: String?) -> Bool {
        guard item.isListed, case .job(let report) = snapshot.content, report.fact.state.isEnded else {
            return false
        }
        return jobPolicies.policy(of: channel).hears.contains(.failed)
    }

    /// The items that the storms of these events are about, besides those of the events.
    static func stormKeys(
        of events: [EventRecord], _ input: TurnInput, _ storms: StormIndex, at now: Moment
    ) -> Set<ItemKey> {
        var keys = Set(storms.free(events.lazy.filter(\.event.fact.isFailure).count).map(ItemKey.storm))
        for record in events {
            guard let id = record.event.fact.columns.run, let run = input.runs[id] else { continue }
            var numbers = [storms.number(of: run.job)]
            if record.event.fact.isFailure {
                numbers.append(storms.open(FailureCause(JobFact(record.event, of: run)), at: now))
            }
            for number in numbers.compactMap(\.self) {
                keys.insert(.storm(number))
                if !storms.isFormed(number) { keys.formUnion(storms.jobs(of: number).map(ItemKey.job)) }
            }
        }
        return keys
    }
}

extension Fact {
    /// Whether a run failed, or was lost.
    var isFailure: Bool {
        switch self {
        case .runFailed, .runLost: true
        default: false
        }
    }
}
