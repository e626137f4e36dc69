package import Ledger
package import Tracking

/// How a run ended, as state, reason and the event that tells of it.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// The event of this end.
    ///
    /// A run that timed out is told as failed, with reason `timeout`.
    package var eventType: EventType {
        switch state {
        case .completed: .runCompleted
        case .canceled: .runCanceled
        case .lost: .runLost
        default: .runFailed
        }
    }
}
