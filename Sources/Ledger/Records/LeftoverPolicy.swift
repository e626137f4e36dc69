/// What the next attempt of a run does about processes that an earlier one left running: it never begins beside them.
package struct LeftoverPolicy: Hashable, Sendable, Codable {
    /// What happens once the wait is over.
    package enum Step: String, Hashable, Sendable, Codable, CaseIterable {
        /// They are ended, TERM first, and the attempt begins.
        case end
        /// The run ends failed; the processes go on.
        case fail
    }

    /// How long the attempt waits for them, from the moment at which it would have begun.
    package var wait: Duration
    package var then: Step

    package init(wait: Duration, then: Step) {
        self.wait = wait
        self.then = then
    }

    /// Ends them after 30 seconds.
    package static let standard = LeftoverPolicy(wait: .seconds(30), then: .end)
}
