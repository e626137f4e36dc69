import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

extension JobFact {
    /// What an event says of a run.
    ///
    /// The state is the event's: the run itself may have gone on since.
    init(_ event: NewEvent, of run: RunRecord) {
        var (state, reason, message) = (run.state, RunReason?.none, String?.none)
        switch event.fact {
        case .runStarted: state = .starting
        case .runBlocked: state = .blocked
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            (reason, message) = (end.reason, end.message)
        default: break
        }
        let last = run.live
        self.init(
            run: run.ordinal, state: state, reason: reason, exitCode: run.exitCode, signal: run.signal,
            progress: last?.progress, phase: last?.phase, text: message ?? last?.message, at: event.at)
    }

    /// Where a run is right now.
    init(_ live: LiveState) {
        let number = live.task.run.split(separator: "#").last.flatMap { Int($0) }
        self.init(
            run: number, state: live.state, reason: live.reason, progress: live.progress, phase: live.phase,
            text: live.message, at: live.updatedAt)
    }
}
