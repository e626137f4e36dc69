package import Tracking

/// One execution of a run.
package struct WireAttempt: Hashable, Sendable, Codable {
    /// From 1.
    package var n: Int
    package var state: RunState
    package var reason: RunReason?
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    package var exitCode: Int?
    package var signal: Int?

    /// The `n`th attempt, in a state.
    package init(n: Int, state: RunState, reason: RunReason? = nil) {
        self.n = n
        self.state = state
        self.reason = reason
    }
}
