import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

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
