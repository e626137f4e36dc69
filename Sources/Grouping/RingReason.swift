/// Why a version of an item rang, or why it did not: shown to people, stored, and the metric label.
public enum RingReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// The first thing seen of an item that was idle or read.
    case first
    /// More messages came and enough time had passed to ring for them.
    case newMessages
    /// Something more urgent came than what last rang.
    case urgencyRose
    /// Still unread and changed, and the repeat interval has passed.
    case repeatElapsed
    /// A job failed that was well before.
    case failed
    /// A failing job failed in another way.
    case failedDifferently
    /// The same failure again, and the repeat interval has passed.
    case stillFailing
    /// The first success after a failure.
    case recovered
    /// A job ended that somebody asked to hear about.
    case finished
    /// Nothing is left to tell: read, answered or over.
    case resolved
    /// Changed, shown, and silent: it rang a moment ago, is of low urgency, or was dismissed.
    case quiet
}
