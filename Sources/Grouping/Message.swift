public import Timeline

/// Something said in a thread of a bot.
public struct Message: Hashable, Codable, Sendable {
    /// Unique among all messages.
    public var id: String
    /// The bot's name.
    public var bot: String
    /// The thread's name within the bot.
    public var thread: String
    /// Who said it.
    public var author: Author
    /// What was said, as it came; it is cut and cleaned where it is shown.
    public var text: String
    /// When it was said.
    public var at: Moment
    /// How much it may disturb.
    public var urgency: Urgency
    /// A heading in place of the bot's name.
    public var title: String?
    /// How it wishes to look.
    public var appearance: Appearance
    /// Takes the place of the unread message of the same key, instead of being one more.
    public var replaceKey: String?
    /// The run that said it, as `JOB#N`.
    public var run: String?

    /// A message.
    public init(
        id: String, bot: String, thread: String, author: Author = .bot, text: String, at: Moment,
        urgency: Urgency = .normal, title: String? = nil, appearance: Appearance = Appearance(),
        replaceKey: String? = nil, run: String? = nil
    ) {
        self.id = id
        self.bot = bot
        self.thread = thread
        self.author = author
        self.text = text
        self.at = at
        self.urgency = urgency
        self.title = title
        self.appearance = appearance
        self.replaceKey = replaceKey
        self.run = run
    }

    /// The item this message belongs to.
    public var itemKey: ItemKey { .thread(bot: bot, thread: thread) }
}
