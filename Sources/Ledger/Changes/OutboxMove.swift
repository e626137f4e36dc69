package import Delivery
package import Timeline

/// An outbox entry's step, after an attempt or at a person's request.
///
/// A nil ``lastError`` or ``status`` leaves what was known; ``nextAt`` and ``settledAt`` are set or cleared
/// by every move.
package struct OutboxMove: Hashable, Sendable {
    package var id: String
    /// Guard: the state it is in now.
    package var from: OutboxState
    /// Guard: how often it was attempted before.
    package var attempts: Int
    package var to: OutboxState
    /// How often it was attempted after this.
    package var nextAttempts: Int
    /// When it is due again; only with `.pending`, and with `.held`, of which it is the end.
    package var nextAt: Moment?
    /// What went wrong, one line without secrets.
    package var lastError: String?
    /// The HTTP status of the last answer.
    package var status: Int?
    /// When it ended; only with an end state.
    package var settledAt: Moment?

    package init(id: String, from: OutboxState, attempts: Int, to: OutboxState, nextAttempts: Int) {
        self.id = id
        self.from = from
        self.attempts = attempts
        self.to = to
        self.nextAttempts = nextAttempts
    }
}
