package import Timeline
package import Tracking

/// One execution of a run.
package struct AttemptRecord: Hashable, Sendable, Codable {
    /// The run's id.
    package var run: String
    /// 1 for the first.
    package var n: Int
    package var state: RunState
    package var reason: RunReason?
    package var startedAt: Moment?
    package var endedAt: Moment?
    package var exitCode: Int?
    package var signal: Int?
    /// How many bytes it printed; nil: not known.
    package var outputBytes: Int64?

    package init(run: String, n: Int, state: RunState) {
        self.run = run
        self.n = n
        self.state = state
    }
}
