import Grouping
import Ledger
import Timeline
import Tracking

extension JobFact {
    /// The fact that an event tells of a run.
    ///
    /// The state is the event's: the run itself may have gone on since.
    init(event: NewEvent, run: RunRecord) {
        let state: RunState =
            switch event.type {
            case .runStarted: .starting
            case .runBlocked: .blocked
            default: run.state
            }
        let last = run.live
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
