/// Something said in a thread of a bot.
package struct WireMessage: Hashable, Sendable, Codable {
    /// What identifies it.
    package var id: String
    /// Whose thread it is in.
    package var bot: String
    /// The thread of the bot.
    package var thread: String
    /// Who said it: `bot` or `user`.
    package var from: String
    /// A line above what was said.
    package var title: String?
    /// What was said, as it was said: it may hold anything.
    package var text: String
    /// When it was said.
    package var at: Timestamp
    /// Whether the person has read it.
    package var read = false
    /// Whether the person keeps it.
    package var pinned = false
    /// The run that said it.
    package var run: String?
    /// The bot that handed it over to this one.
    package var sender: String?
    /// The message that it replies to.
    package var replyTo: String?
    /// The words that people reacted to it with.
    package var reactions: [String]?
    /// The files that came with it.
    package var attachments: [WireAttachment]?
    /// How what a search found is ordered: the best first (`ranked`), or the newest where more than 10,000 match.
    package var order: SearchOrder?

    /// A message that nobody has read.
    package init(id: String, bot: String, thread: String, from: String, text: String, at: Timestamp) {
        self.id = id
        self.bot = bot
        self.thread = thread
        self.from = from
        self.text = text
        self.at = at
    }
}

/// How what a search found is ordered.
package enum SearchOrder: String, Hashable, Sendable, Codable, CaseIterable {
    /// The best first.
    case ranked
    /// The newest first.
    case newest
}

/// A file that came with a message.
package struct WireAttachment: Hashable, Sendable, Codable {
    /// The file's name.
    package var name: String
    /// How many bytes it holds.
    package var bytes: Int

    /// A file of that name.
    package init(name: String, bytes: Int) {
        self.name = name
        self.bytes = bytes
    }
}

/// What came of a message that was said to a bot.
package struct WireReply: Hashable, Sendable, Codable {
    /// The run that answers it; absent: none was given it yet.
    package var run: WireRun?
    /// What the bot replied; absent: nothing yet.
    package var message: WireMessage?

    /// Nothing yet.
    package init(run: WireRun? = nil, message: WireMessage? = nil) {
        self.run = run
        self.message = message
    }
}

/// What a person sees as one thing: a thread of a bot, or a job.
package struct WireItem: Hashable, Sendable, Codable {
    /// What identifies it, such as `job:backup`.
    package var key: String
    /// `thread`, `job`, `storm`: jobs that failed alike, or `question`.
    package var kind: String
    /// Whose it is.
    package var bot: String?
    /// Of a thread: its name.
    package var thread: String?
    /// Of a job: its name.
    package var job: String?
    /// How many messages nobody has read, or how many failures in a row.
    package var count = 0
    /// The newest three messages, oldest first.
    package var last: [WireMessage] = []
    /// `low`, `normal` or `critical`.
    package var urgency: String
    /// Why it rang last.
    package var reason: String?
    /// Rises by one with every version.
    package var revision: Int64

    /// An item with nothing said in it.
    package init(key: String, kind: String, urgency: String, revision: Int64) {
        self.key = key
        self.kind = kind
        self.urgency = urgency
        self.revision = revision
    }
}
