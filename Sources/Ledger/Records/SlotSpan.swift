package import Timeline
package import Tracking

/// Consecutive slots of a job that did not run, for one reason.
package struct SlotSpan: Hashable, Sendable, Codable {
    package var job: String
    package var era: Int
    /// The first and the last slot; equal when there is one.
    package var first: Moment
    package var last: Moment
    /// How many slots, 1 or more.
    package var count: Int
    /// ``RunState/skipped`` or ``RunState/missed``.
    package var state: RunState
    package var reason: RunReason

    package init(
        job: String, era: Int, first: Moment, last: Moment, count: Int, state: RunState,
        reason: RunReason
    ) {
        self.job = job
        self.era = era
        self.first = first
        self.last = last
        self.count = count
        self.state = state
        self.reason = reason
    }
}
