public import Timeline

/// One version of an item, as values: what a notice and a webhook are made of.
public struct ItemSnapshot: Hashable, Codable, Sendable {
    /// Which item.
    public var key: ItemKey
    /// Counts the versions, from 1.
    public var revision: Int
    /// The bot that speaks, or owns the job.
    public var bot: String
    /// The highest urgency of what is unread.
    public var urgency: Urgency
    /// Why it rings, or why not.
    public var reason: RingReason
    /// When this version was made.
    public var at: Moment
    /// Whether a person has put the item away and nothing since was worth bringing it back.
    public var isDismissed: Bool
    /// What it shows.
    public var content: Content

    /// What an item shows.
    public enum Content: Hashable, Codable, Sendable {
        /// How many messages are unread, and the newest three of those, oldest first; texts are previews.
        case messages(count: Int, last: [Message])
        /// Where the job is.
        case job(JobReport)
    }

    /// A version of an item.
    public init(
        key: ItemKey, revision: Int, bot: String, urgency: Urgency, reason: RingReason, at: Moment,
        isDismissed: Bool = false, content: Content
    ) {
        self.key = key
        self.revision = revision
        self.bot = bot
        self.urgency = urgency
        self.reason = reason
        self.at = at
        self.isDismissed = isDismissed
        self.content = content
    }
}
