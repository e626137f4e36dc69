package import Ledger
package import Tracking
package import WardenProtocol

/// How a run ended, as state, reason and the event that tells of it.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// What the warden's record of an attempt comes to.
    package init(_ record: ExitRecord) {
        switch record.cause {
        case .timeout: self.init(.timedOut, .timeout)
        case .canceled: self.init(.canceled, .canceled)
        case .lost: self.init(.lost, .wardenLost)
        case .exited where record.signal != nil: self.init(.failed, .signal)
        case .exited where record.exitCode == 0: self.init(.completed)
        case .exited: self.init(.failed, .exitCode)
        }
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
