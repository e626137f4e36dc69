package import Delivery
package import Timeline

/// Makes the entries of a channel due: all that are pending, and those in ``reviving``.
package struct OutboxRelease: Hashable, Sendable {
    package var channel: String
    /// From which states entries become pending again.
    package var reviving: Set<OutboxState>
    /// When they are due; a pending entry that is due earlier stays so.
    package var at: Moment
    /// Pending entries that are due at another moment if that is before their own; nil: at their own.
    package var later: [String: Moment?]
    /// The channel that they go to instead; nil: they stay.
    package var newChannel: String?

    package init(
        channel: String, reviving: Set<OutboxState> = [.waiting], at: Moment, later: [String: Moment?] = [:],
        newChannel: String? = nil
    ) {
        self.channel = channel
        self.reviving = reviving
        self.at = at
        self.later = later
        self.newChannel = newChannel
    }
}

/// Makes the pending entries of a channel that is missing wait, and expires those that have waited too long.
package struct OutboxPark: Hashable, Sendable {
    package var channel: String
    /// Entries made before this expire.
    package var expiring: Moment
    /// What is noted of those that expire, unless they were tried.
    package var reason: String
    package var at: Moment

    package init(channel: String, expiring: Moment, reason: String, at: Moment) {
        self.channel = channel
        self.expiring = expiring
        self.reason = reason
        self.at = at
    }
}
