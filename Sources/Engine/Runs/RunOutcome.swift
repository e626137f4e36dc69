package import Delivery
package import Ledger
package import Performing
package import Tracking

/// How a run ended: state and reason.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// The outcome of an attempt's record.
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

extension ExitRecord {
    /// The survivors as the ledger keeps them; nil: none.
    package var leftProcesses: [LeftProcess]? {
        survivors.isEmpty ? nil : survivors.map { LeftProcess(pid: $0.pid, name: $0.name) }
    }
}
