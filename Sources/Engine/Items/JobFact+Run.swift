import Grouping
import Ledger
import Timeline
import Tracking

extension JobFact {
    /// The fact that an event tells of a run.
    ///
    /// The state is the event's: the run itself may have gone on since.
    init(event: NewEvent, run: RunRecord, live: LiveState?) {
        let state: RunState =
            switch event.type {
            case .runStarted: .starting
            case .runBlocked: .blocked
            default: run.state
            }
        let last = live ?? run.live
        self.init(
            run: run.ordinal, state: state, reason: event.reason.flatMap(RunReason.init),
            exitCode: run.exitCode, signal: run.signal, progress: last?.progress, phase: last?.phase,
            text: event.detail.isEmpty ? last?.message : event.detail, at: event.at)
    }

    /// Where a run is right now.
    init(_ live: LiveState) {
        let number = live.task.run.split(separator: "#").last.flatMap { Int($0) }
        self.init(
            run: number, state: live.state, reason: live.reason, progress: live.progress, phase: live.phase,
            text: live.message, at: live.updatedAt)
    }
}

extension KeptItem {
    /// A person has seen what this revision showed (nil: all of it).
    mutating func seen(revision: Int?, at now: Moment) -> [ItemAction] {
        switch decider {
        case .thread(var thread):
            defer { decider = .thread(thread) }
            return revision.map { thread.dismissed(revision: $0, at: now) } ?? thread.read(at: now)
        case .job(var job):
            defer { decider = .job(job) }
            return revision.map { job.dismissed(revision: $0, at: now) } ?? job.read(at: now)
        }
    }

    /// How often in a row its job failed; kept also while nobody is shown anything, for the recovery.
    var failures: Int {
        guard case .job(let job) = decider else { return 0 }
        return job.failures
    }

    /// Whether it shows a run that has not ended, and so will soon change.
    var isAtWork: Bool {
        guard case .job(let job) = decider, let fact = job.report?.fact else { return false }
        return !fact.state.isEnded
    }
}
