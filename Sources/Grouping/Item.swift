public import Timeline

/// Which item something belongs to: everything with one key is shown to a person as one thing.
///
/// The text form is stable, because it is stored and names surfaces: `job:home-backup`,
/// `thread:ops/main`. In a bot's name `%` and `/` are written `%25` and `%2F`; a thread is written as it is.
public enum ItemKey: Hashable, Sendable {
    /// The messages of one thread of a bot.
    case thread(bot: String, thread: String)
    /// A job's progress, result, failures and recovery.
    case job(String)
    /// Jobs that failed alike, by the storm's number.
    case storm(Int)
    /// A question, by its id.
    case question(String)
}

extension ItemKey: LosslessStringConvertible {
    /// The stable text form.
    public var description: String {
        switch self {
        case .thread(let bot, let thread): "thread:" + Self.escaped(bot) + "/" + thread
        case .job(let name): "job:" + name
        case .storm(let number): "storm:\(number)"
        case .question(let id): "question:" + id
        }
    }

    /// Reads the stable text form; `nil` for anything else.
    public init?(_ description: String) {
        guard let colon = description.firstIndex(of: ":") else { return nil }
        let rest = description[description.index(after: colon)...]
        switch description[..<colon] {
        case "job" where !rest.isEmpty:
            self = .job(String(rest))
        case "question" where !rest.isEmpty:
            self = .question(String(rest))
        case "storm":
            guard let number = Int(rest), number > 0, rest == "\(number)" else { return nil }
            self = .storm(number)
        case "thread":
            guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")),
                let bot = Self.unescaped(rest[..<slash])
            else { return nil }
            self = .thread(bot: bot, thread: String(rest[rest.utf8.index(after: slash)...]))
        default:
            return nil
        }
    }

    private static func escaped(_ bot: String) -> String {
        var text = ""
        for scalar in bot.unicodeScalars {
            switch scalar {
            case "%": text += "%25"
            case "/": text += "%2F"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bot = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                bot.unicodeScalars.append(scalar)
                continue
            }
            switch (rest.popFirst(), rest.popFirst()) {
            case ("2", "5"): bot += "%"
            case ("2", "F"): bot += "/"
            default: return nil
            }
        }
        return bot
    }
}

extension ItemKey: Codable {
    /// Reads the stable text form.
    /// - Throws: `DecodingError.dataCorrupted` when the text is not a key.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = ItemKey(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an item key")
        }
        self = key
    }

    /// Writes the stable text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// What an item asks of its owner.
public enum ItemAction: Hashable, Sendable {
    /// Show this version; whether it rings, and why, is its reason.
    case flush(ItemSnapshot)
    /// Call `wake` at this moment. The moment is also in the saved state.
    case wakeAt(Moment)
    /// Nothing is left to show: take the item away everywhere, under this revision.
    case resolve(revision: Int)
}

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
        /// How many messages are unread, and the newest three of those, oldest first.
        ///
        /// Texts are previews of one line each; that of a lone message has its line breaks, see ``Preview/shape(_:to:)``.
        case messages(count: Int, last: [Message])
        /// Where the job is.
        case job(JobReport)
        /// Which jobs failed alike.
        case storm(StormReport)
        /// What is asked.
        case question(Question)
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

/// What a job's item shows: where its newest run is, and how it stands with its failures.
public struct JobReport: Hashable, Codable, Sendable {
    /// The job's name.
    public var job: String
    /// What this version reports.
    public var news: JobNews
    /// Where the run is, or what happened to the slots.
    public var fact: JobFact
    /// How often in a row it failed in this same way; 0 when it is well.
    public var sameFailures: Int
    /// How often in a row it failed in any way, before a recovery too; 0 when it was well.
    public var failures: Int
    /// How long it was down, from the end of the first failure to the success; only in a recovery.
    public var outage: Duration?

    /// A report.
    public init(
        job: String, news: JobNews, fact: JobFact, sameFailures: Int = 0, failures: Int = 0,
        outage: Duration? = nil
    ) {
        self.job = job
        self.news = news
        self.fact = fact
        self.sameFailures = sameFailures
        self.failures = failures
        self.outage = outage
    }
}

/// Why a version of an item rang, or why it did not: shown to people, stored, and the metric label.
public enum RingReason: String, Hashable, Codable, Sendable, CaseIterable {
    // These ring.
    /// The first thing said in a thread that was idle or read.
    case first
    /// More messages came, and the last ring was long enough ago.
    case newMessages
    /// Something more urgent came than what last rang.
    case urgencyRose
    /// Nothing changed for the better, and it is time for a reminder.
    case repeatElapsed
    /// Somebody acknowledged the failure a while ago, and the job still fails.
    case acknowledgementExpired
    /// A job failed that was well before.
    case failed
    /// A failing job failed in another way.
    case failedDifferently
    /// The first success after a failure.
    case recovered
    /// A job ended, and a person asked to be notified.
    case finished
    /// A run waits for a person.
    case blocked
    /// Slots passed while nobody could run them.
    case missed
    /// A question was asked.
    case asked

    // These do not.
    /// It rang a moment ago.
    case tooSoon
    /// All that is unread is of low urgency.
    case lowUrgency
    /// The same failure as before: the count rises without a ring.
    case sameFailure
    /// Progress only.
    case progressed
    /// The result of a run takes the place of its progress, and is no news by itself.
    case settled
    /// Another job failed like those before it, or one of them succeeded.
    case joined
    /// A person has put the item away, and this is no news.
    case dismissed
    /// Nothing is left to show: read, answered or ended.
    case resolved

    /// The reason as the fragment of a sentence.
    public var words: String {
        switch self {
        case .first: "the first unread message"
        case .newMessages: "new messages"
        case .urgencyRose: "it is more urgent than before"
        case .repeatElapsed: "the failure persists"
        case .acknowledgementExpired: "the job still fails, and its acknowledgement has expired"
        case .failed: "the job failed"
        case .failedDifferently: "the job failed in another way"
        case .recovered: "the job recovered"
        case .finished: "the run ended"
        case .blocked: "the run waits for you"
        case .missed: "slots were missed"
        case .asked: "a question waits for your answer"
        case .tooSoon: "it rang a moment ago"
        case .lowUrgency: "the urgency is low"
        case .sameFailure: "the same failure as before"
        case .progressed: "progress"
        case .settled: "the result replaces the progress of its run"
        case .joined: "one notice for all jobs that failed alike"
        case .dismissed: "you dismissed it"
        case .resolved: "nothing is left to show"
        }
    }

    /// Whether it calls a person.
    public var rings: Bool {
        switch self {
        case .first, .newMessages, .urgencyRose, .repeatElapsed, .acknowledgementExpired, .failed,
            .failedDifferently, .recovered,
            .finished, .blocked, .missed, .asked:
            true
        case .tooSoon, .lowUrgency, .sameFailure, .progressed, .settled, .joined, .dismissed, .resolved: false
        }
    }
}
