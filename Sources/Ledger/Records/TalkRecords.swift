import Delivery
package import Grouping
package import Timeline
package import Tracking

/// A message as stored.
package struct MessageRecord: Hashable, Sendable {
    package var message: Message
    package var read: Bool
    package var pinned: Bool
    /// The id of the run that posted it.
    package var run: String?
    /// The id of the message that it replies to.
    package var replyTo: String?
    /// Of a message of a person: the id of the newest run that was to answer it.
    package var askedRun: String?
    /// In ``askedRun``: it was said to the bot elsewhere, which has answered it there.
    package static let saidElsewhere = "elsewhere"
    /// The bot that handed it over to this one, whose thread it is in, or what people read of who said it elsewhere; nil: a
    /// person said it here, or its own bot.
    package var sender: String?
    /// How many bots have handed it over.
    package var hops = 0
    /// The words that people reacted to it with, in their order.
    package var reactions: [String] = []
    /// What came with it.
    package var attachment: AttachmentNote?

    package init(
        message: Message, read: Bool = false, pinned: Bool = false, run: String? = nil, replyTo: String? = nil
    ) {
        self.message = message
        self.read = read
        self.pinned = pinned
        self.run = run
        self.replyTo = replyTo
    }
}

/// A file that came with a message, without what it holds.
package struct AttachmentNote: Hashable, Sendable, Codable {
    /// The file's name, without its folder.
    package var name: String
    /// How many bytes it holds.
    package var bytes: Int

    package init(name: String, bytes: Int) {
        self.name = name
        self.bytes = bytes
    }

    /// The most bytes of one file.
    package static let limit = 5 * 1024 * 1024
    /// The most of a text that its bot is shown, in bytes; anything else is only named.
    package static let shownLimit = 64 * 1024
}

/// How far a conversation is: a thread of a bot that answers.
///
/// Rows are those of messages: ``NumberedMessage/number``.
package struct ConversationRecord: Hashable, Sendable {
    /// The bot's name.
    package var bot: String
    /// The thread's name.
    package var thread: String
    /// Every message of a person up to this row is answered.
    package var cursor: Int64
    /// Up to this row the newest run was given messages.
    package var given: Int64
    /// Its session began after this row: the bot is shown nothing from before.
    package var since: Int64
    /// What resumes it at the bot's provider; nil: nothing does.
    package var continuation: Continuation?
    /// What was said up to this row is known there.
    package var known: Int64 = 0
    /// What the bot keeps of what was said up to the row ``summarized``; nil: nothing.
    package var summary: String?
    /// Up to this row the bot is shown the summary alone.
    package var summarized: Int64 = 0

    package init(bot: String, thread: String, cursor: Int64 = 0, given: Int64 = 0, since: Int64 = 0) {
        self.bot = bot
        self.thread = thread
        self.cursor = cursor
        self.given = given
        self.since = since
    }
}

/// A message with its row.
package struct NumberedMessage: Hashable, Sendable {
    /// Later messages have higher ones.
    package var number: Int64
    package var record: MessageRecord

    package init(number: Int64, record: MessageRecord) {
        self.number = number
        self.record = record
    }
}

/// A reaction that the bot has not been shown.
package struct ReactionRecord: Hashable, Sendable {
    /// The id of the message.
    package var message: String
    package var word: String
    package var at: Moment

    package init(message: String, word: String, at: Moment) {
        self.message = message
        self.word = word
        self.at = at
    }
}

/// A conversation in which a person said something that no run was given.
package struct UnaskedThread: Hashable, Sendable {
    package var bot: String
    package var thread: String
    /// The row of the oldest such message.
    package var first: Int64
    /// The id of the newest.
    package var newest: String

    package init(bot: String, thread: String, first: Int64, newest: String) {
        self.bot = bot
        self.thread = thread
        self.first = first
        self.newest = newest
    }
}

/// An item as stored: its decider's state between two events, and its timer.
package struct ItemRecord: Hashable, Sendable {
    package var key: ItemKey
    /// Rises with every write.
    package var revision: Int64
    /// The decider's whole state as JSON (a `ThreadItem` or a `JobItem`).
    package var state: [UInt8]
    /// When the decider wants to be woken; nil: not before the next event.
    package var flushAt: Moment?
    package var updatedAt: Moment

    package init(key: ItemKey, revision: Int64, state: [UInt8], flushAt: Moment?, updatedAt: Moment) {
        self.key = key
        self.revision = revision
        self.state = state
        self.flushAt = flushAt
        self.updatedAt = updatedAt
    }
}

/// A question as stored.
package struct QuestionRecord: Hashable, Sendable {
    /// What was asked, of whom, and until when.
    package var question: Question
    /// The id of the run that asks; nil: it was asked outside of any.
    package var run: String?
    /// How it was closed; nil: it is open.
    package var end: QuestionEnd?

    package init(_ question: Question, run: String? = nil, end: QuestionEnd? = nil) {
        self.question = question
        self.run = run
        self.end = end
    }

    /// The question's id.
    package var id: String { question.id }

    /// The question with the event that it was asked.
    package func asking() -> [Change] {
        let news = Fact.QuestionNews(question, run: run)
        return [.insertQuestion(self), .append(NewEvent(.questionAsked(news), at: question.askedAt))]
    }

    /// Its end with the event of it; refused when somebody closed it first.
    package func closing(_ end: QuestionEnd) -> [Change] {
        [.closeQuestion(id: id, end), .append(NewEvent(news(of: end), at: end.at))]
    }

    private func news(of end: QuestionEnd) -> Fact {
        let news = Fact.QuestionNews(question, run: run, end: end)
        switch end.state {
        case .answered: return .questionAnswered(news)
        case .expired: return .questionExpired(news)
        case .withdrawn, .open: return .questionWithdrawn(news)
        }
    }
}
