package import Delivery
package import Tracking
package import WardenProtocol

/// How a run ended: state and reason.
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

    /// The fact of this end.
    ///
    /// A run that timed out has failed, with the reason `timeout`.
    package func fact(of run: Fact.Run, message: String? = nil) -> Fact {
        let end = Fact.End(run, reason: reason, message: message)
        return switch state {
        case .completed: .runCompleted(end)
        case .canceled: .runCanceled(end)
        case .lost: .runLost(end)
        default: .runFailed(end)
        }
    }
}
