/// Why a version of an item rang, or why it did not: shown to people, stored, and the metric label.
public enum RingReason: String, Hashable, Codable, Sendable, CaseIterable {
    // These ring.
    /// The first thing said in a thread that was idle or read.
    case first
    /// More messages came, and the last ring was long enough ago.
    case newMessages
    /// Something more urgent came than what last rang.
    case urgencyRose
    /// Nothing changed for the better, and it is time to say so again.
    case repeatElapsed
    /// A job failed that was well before.
    case failed
    /// A failing job failed in another way.
    case failedDifferently
    /// The first success after a failure.
    case recovered
    /// A job ended, and somebody asked to hear of it.
    case finished
    /// A run waits for a person.
    case blocked
    /// Slots passed while nobody could run them.
    case missed

    // These do not.
    /// It rang a moment ago.
    case tooSoon
    /// All that is unread is of low urgency.
    case lowUrgency
    /// The same failure as before: the count rises, nobody is called.
    case sameFailure
    /// Progress only.
    case progressed
    /// A person has put the item away, and this is no news.
    case dismissed
    /// Nothing is left to show: read, answered or ended.
    case resolved

    /// Whether it calls a person.
    public var rings: Bool {
        switch self {
        case .first, .newMessages, .urgencyRose, .repeatElapsed, .failed, .failedDifferently, .recovered,
            .finished, .blocked, .missed:
            true
        case .tooSoon, .lowUrgency, .sameFailure, .progressed, .dismissed, .resolved: false
        }
    }
}
