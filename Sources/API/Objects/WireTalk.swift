package import Tracking

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

extension WireMessage: SortedJSONWritable {
    /// Writes it without an encoder, since every message is answered with it; a new member is added here, too.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", at.text)
            if let attachments {
                writer.name("attachments")
                writer.array { writer in
                    for attachment in attachments {
                        writer.object { writer in
                            writer.member("bytes", attachment.bytes)
                            writer.member("name", attachment.name)
                        }
                    }
                }
            }
            writer.member("bot", bot)
            writer.member("from", from)
            writer.member("id", id)
            writer.member("order", order?.rawValue)
            writer.member("pinned", pinned)
            writer.member("reactions", reactions)
            writer.member("read", read)
            writer.member("replyTo", replyTo)
            writer.member("run", run)
            writer.member("sender", sender)
            writer.member("text", text)
            writer.member("thread", thread)
            writer.member("title", title)
        }
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
    /// Of a reminder: who had acknowledged the failure, and when; absent: it is none.
    package var note: String?
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

/// A question asked of a person.
package struct WireQuestion: Hashable, Sendable, Codable {
    /// What identifies it.
    package var id: String
    /// The run that asks, `JOB#N`.
    package var run: String?
    /// The bot that asks.
    package var bot: String
    /// What is asked, as it was asked: it may hold anything.
    package var text: String
    /// The answers to choose from; the first is the affirmative one.
    package var choices: [String]
    /// Whether any text is an answer, too; absent: no.
    package var reply: Bool?
    /// What counts as the answer at the deadline; absent: the question expires then.
    package var `default`: String?
    /// When it was asked.
    package var askedAt: Timestamp
    /// Until when it can be answered; absent: without an end.
    package var deadline: Timestamp?
    /// A page where it can be answered, once; absent: the API is not served over TCP, or it is closed.
    package var link: String?
    /// `open`, `answered`, `expired` or `withdrawn`.
    package var state = "open"
    /// The answer.
    package var answer: String?
    /// Where it was answered: the name of a channel, `cli`, `api`, `default`: nobody answered in time, or
    /// `trust ID`: by an earlier answer, that of the question whose id ends so.
    package var answeredBy: String?
    /// When it was answered.
    package var answeredAt: Timestamp?
    /// When it expired, or was withdrawn.
    package var closedAt: Timestamp?

    /// A question that is open.
    package init(id: String, bot: String, text: String, choices: [String], askedAt: Timestamp) {
        self.id = id
        self.bot = bot
        self.text = text
        self.choices = choices
        self.askedAt = askedAt
    }
}

/// Asks a question of a person.
package struct AskRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, a fresh UUID: asking again with it goes on waiting for the same question.
    ///
    /// After a restart of the daemon, it is withdrawn unless it is asked again within a minute.
    package var id: String
    /// What to ask; not only blanks.
    package var text: String
    /// The answers to choose from; absent: `yes` and `no`, or none where any text is an answer.
    package var choices: [String]?
    /// What counts as the answer at the deadline; absent: the question expires then.
    package var `default`: String?
    /// Until the deadline, milliseconds; absent: without an end.
    package var afterMs: Int64?
    /// Whether any text is an answer; absent: no.
    package var reply: Bool?
    /// How long only channels that edit in place ask it, milliseconds; absent: all ask at once.
    package var graceMs: Int64?
    /// Which earlier answer counts for it; absent: none.
    package var trust: AnswerTrust?
    /// Who asks; absent: the bot of the run, or `belfry`.
    package var bot: String?
    /// The id of the run that asks; one that this daemon does not know is left out.
    package var run: String?
    /// Whether it stays open when the caller leaves, until it is answered or ``run`` has ended; absent: it is withdrawn.
    package var keep: Bool?
    /// The session of the agent that asks, and what its call is about: it may report that nobody needs to answer any more;
    /// absent: it never does.
    package var session: String?
    /// See ``session``.
    package var about: String?
    /// The icon of its notification, a name or an absolute path.
    package var icon: String?
    /// The sound of its notification, a name or an absolute path.
    package var sound: String?
    /// A notification category.
    package var category: String?
    /// `low`, `normal` or `critical`; absent: normal.
    package var urgency: String?

    /// Asks `text`, everything else as usual.
    package init(id: String, text: String) {
        self.id = id
        self.text = text
    }
}

/// Which earlier answer of a person counts for a question: then it is answered by its first choice at once.
package struct AnswerTrust: Hashable, Sendable, Codable {
    /// What exactly both are about.
    package var subject: String
    /// What the earlier one was answered: one of the choices, and not the first.
    package var choice: String
    /// For how long the earlier answer counts, milliseconds; at most a day.
    package var forMs: Int64

    /// An answer that counts for a while.
    package init(subject: String, choice: String, forMs: Int64) {
        self.subject = subject
        self.choice = choice
        self.forMs = forMs
    }
}

/// Withdraws what an agent asked and nobody needs to answer any more.
package struct SettleRequest: Hashable, Sendable, Codable {
    /// The session of the agent.
    package var session: String
    /// What the call is about; absent: whatever the session asked.
    package var about: String?

    /// Withdraws the questions of a session.
    package init(session: String, about: String? = nil) {
        (self.session, self.about) = (session, about)
    }
}

/// Answers a question.
package struct AnswerRequest: Hashable, Sendable, Codable {
    /// One of the choices, or any text where the question accepts it.
    package var answer: String
    /// Where it was given, one word; absent: `api`.
    package var by: String?

    /// An answer.
    package init(answer: String) {
        self.answer = answer
    }
}
