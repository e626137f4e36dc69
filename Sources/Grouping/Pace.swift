import Timeline

/// The timers of an item: when to flush next, and when it last did.
///
/// Saved with the item; a clock that was set can't strand it, see ``clamp(at:longest:)``.
struct Pace: Hashable, Codable, Sendable {
    /// When something unseen must be shown; `nil` when nothing waits.
    private(set) var flushAt: Moment?
    /// When a version was last made.
    private(set) var flushedAt: Moment?

    /// Asks for a flush at `moment`, or once `interval` has passed since the last; the earlier of two
    /// requests stands.
    mutating func ask(for moment: Moment, interval: Duration) {
        let due = max(moment, flushedAt.map { $0 + interval } ?? moment)
        flushAt = min(flushAt ?? due, due)
    }

    /// Whether something waits and its moment has come.
    func isDue(at now: Moment) -> Bool {
        flushAt.map { $0 <= now } ?? false
    }

    /// A version was made.
    mutating func flushed(at now: Moment) {
        flushAt = nil
        flushedAt = now
    }

    /// Nothing waits any more.
    mutating func cancel() { flushAt = nil }

    /// Brings timers from a future that a set-back clock took away to at most `longest` from now.
    mutating func clamp(at now: Moment, longest: Duration) {
        flushAt = flushAt.map { min($0, now + longest) }
        flushedAt = flushedAt.map { min($0, now) }
    }
}
