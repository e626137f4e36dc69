package import Tracking

/// One execution of a run.
package struct WireAttempt: Hashable, Sendable, Codable {
    /// From 1.
    package var n: Int
    /// Where it is, or how it ended.
    package var state: RunState
    /// Why, where there is more to say than the state does.
    package var reason: RunReason?
    /// When its process was started.
    package var startedAt: Timestamp?
    /// When its process ended.
    package var endedAt: Timestamp?
    /// What the process exited with; absent when a signal ended it.
    package var exitCode: Int?
    /// The signal that ended the process.
    package var signal: Int?

    /// The `n`th attempt, in a state.
    package init(n: Int, state: RunState, reason: RunReason? = nil) {
        self.n = n
        self.state = state
        self.reason = reason
    }
}
