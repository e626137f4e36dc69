public import Timeline

/// A message in a thread of a bot.
public struct Message: Hashable, Codable, Sendable {
    /// Unique among all messages.
    public var id: String
    /// The bot's name.
    public var bot: String
    /// The thread's name within the bot.
    public var thread: String
    /// Who wrote it.
    public var author: Author
    /// The text, as it came; it is cut and cleaned where it is shown.
    public var text: String
    /// When it was written.
    public var at: Moment
    /// How much it may disturb.
    public var urgency: Urgency
    /// A heading in place of the bot's name.
    public var title: String?
    /// How it should look.
    public var appearance: Appearance
    /// Takes the place of the unread message of the same key, instead of being one more.
    public var replaceKey: String?
    /// The run that wrote it, as `JOB#N`.
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

// What most messages have is left out: an item keeps its last messages, and is written with each new one.

extension Message {
    private enum CodingKeys: CodingKey {
        case id, bot, thread, author, text, at, urgency, title, appearance, replaceKey, run
    }

    /// Reads a message; what is left out is as it is unless said otherwise.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            bot: try container.decode(String.self, forKey: .bot),
            thread: try container.decode(String.self, forKey: .thread),
            author: try container.decodeIfPresent(Author.self, forKey: .author) ?? .bot,
            text: try container.decode(String.self, forKey: .text),
            at: try container.decode(Moment.self, forKey: .at),
            urgency: try container.decodeIfPresent(Urgency.self, forKey: .urgency) ?? .normal,
            title: try container.decodeIfPresent(String.self, forKey: .title),
            appearance: try container.decodeIfPresent(Appearance.self, forKey: .appearance) ?? Appearance(),
            replaceKey: try container.decodeIfPresent(String.self, forKey: .replaceKey),
            run: try container.decodeIfPresent(String.self, forKey: .run))
    }

    /// Writes a message without what it shares with most.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(bot, forKey: .bot)
        try container.encode(thread, forKey: .thread)
        if author != .bot { try container.encode(author, forKey: .author) }
        try container.encode(text, forKey: .text)
        try container.encode(at, forKey: .at)
        if urgency != .normal { try container.encode(urgency, forKey: .urgency) }
        if let title { try container.encode(title, forKey: .title) }
        if appearance != Appearance() { try container.encode(appearance, forKey: .appearance) }
        if let replaceKey { try container.encode(replaceKey, forKey: .replaceKey) }
        if let run { try container.encode(run, forKey: .run) }
    }
}

/// The author of a message.
public enum Author: String, Hashable, Codable, Sendable, CaseIterable {
    /// The bot, or a script in its name.
    case bot
    /// A person; their messages are never unread.
    case user
}

/// How much a notice may disturb, from `low` to `critical`.
public enum Urgency: String, Hashable, Codable, Sendable, CaseIterable, Comparable {
    /// Listed, never rings.
    case low
    /// Rings once; the default.
    case normal
    /// Sent without waiting, and stays on the screen until a person closes it.
    case critical

    /// Less disturbing urgencies are smaller.
    public static func < (left: Urgency, right: Urgency) -> Bool { left.level < right.level }

    /// 0, 1 or 2: the byte of the desktop's `urgency` hint.
    public var level: UInt8 {
        switch self {
        case .low: 0
        case .normal: 1
        case .critical: 2
        }
    }
}

/// How a message should look and sound; a channel uses what it can.
public struct Appearance: Hashable, Codable, Sendable {
    /// An icon name or an absolute path.
    public var icon: String?
    /// A name of the sound naming specification, as `message-new-instant`.
    public var soundName: String?
    /// A category of the desktop specification, as `im.received`.
    public var category: String?
    /// How long it stays on the screen; absent lets the server decide, zero keeps it until closed.
    public var expireAfter: Duration?

    /// An appearance; everything absent is left to the bot's settings and the channel.
    public init(
        icon: String? = nil, soundName: String? = nil, category: String? = nil, expireAfter: Duration? = nil
    ) {
        self.icon = icon
        self.soundName = soundName
        self.category = category
        self.expireAfter = expireAfter
    }
}
