/// One event or notice for one channel, sent once, until settled.
package struct WireOutboxEntry: Hashable, Sendable, Codable {
    /// Also the `webhook-id` of every attempt.
    package var id: String
    /// Where it goes.
    package var channel: String
    /// The event's type.
    package var type: String
    /// Why it rang.
    package var reason: String
    /// `pending`, `waiting`, `sending`, `delivered`, `dead`, `held`, `suppressed`, `superseded`, `expired`, `discarded`.
    package var state: String
    /// How often it was attempted.
    package var attempts = 0
    /// When it is tried next; absent when that is not known, as long as its channel is given up or missing.
    package var nextAt: Timestamp?
    /// What it waits for: `retry` (its next attempt), `earlier` (an entry of the same item or run),
    /// `channelFailing`, `channelDisabled`, `channelMissing`, `channelLeftOut`, `rule`; absent when it waits for
    /// nothing.
    package var waitsFor: String?
    /// The last failure of the channel it waits for.
    package var channelError: String?
    /// What went wrong, one line without secrets.
    package var lastError: String?
    /// What the far end said of what it took: which of several recipients it refused.
    package var detail: String?
    /// The HTTP status of the last answer.
    package var status: Int?
    /// When it was made.
    package var createdAt: Timestamp
    /// When it ended.
    package var settledAt: Timestamp?
    /// The run it is about.
    package var run: String?
    /// The item it is about.
    package var item: String?
    /// Each attempt, the first one first; only where one entry is shown.
    package var tries: [WireTry]?

    /// An entry that was not attempted yet.
    package init(
        id: String, channel: String, type: String, reason: String, state: String, createdAt: Timestamp
    ) {
        self.id = id
        self.channel = channel
        self.type = type
        self.reason = reason
        self.state = state
        self.createdAt = createdAt
    }
}

/// One attempt to deliver an entry.
package struct WireTry: Hashable, Sendable, Codable {
    /// When it had ended.
    package var at: Timestamp
    /// How long the other side took, in milliseconds.
    package var latencyMs: Double?
    /// The HTTP status, where an answer came.
    package var status: Int?
    /// Why it failed, as a word; absent: it was accepted.
    package var reason: String?
    /// What went wrong, one line without secrets.
    package var error: String?
    /// The head of the answer, at most 2,048 bytes, without secrets.
    package var answer: String?

    /// An attempt that had ended then.
    package init(at: Timestamp) { self.at = at }
}

/// The states in which outbox entries are shown; all but ``sending`` are stored.
package enum WireOutboxState: String, Hashable, Sendable, Codable, CaseIterable {
    case pending, waiting, delivered, dead, held, suppressed, superseded, expired, discarded
    /// An attempt is under way; stored as ``pending``.
    case sending
}
