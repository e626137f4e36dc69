public import Timeline

/// A question asked of a person: what is asked, and which answers it accepts.
///
/// It is answered once. Who never answers has said nothing: only ``fallback`` stands in for an answer, at the deadline.
public struct Question: Hashable, Codable, Sendable {
    /// What identifies it.
    public var id: String
    /// The bot that asks.
    public var bot: String
    /// The run that asks, `JOB#N`; `nil`: it was asked outside of any.
    public var run: String?
    /// What is asked.
    public var text: String
    /// The answers to choose from, in order; the first is the affirmative one, for which `confirm` exits with 0.
    public var choices: [String]
    /// Whether any text is an answer, too.
    public var takesText: Bool
    /// What counts as the answer when nobody gave one by the deadline; `nil`: the question expires.
    public var fallback: String?
    /// When it was asked.
    public var askedAt: Moment
    /// Until when it can be answered; `nil`: without an end.
    public var deadline: Moment?
    /// Until when only channels that edit in place ask it; `nil`: all ask at once.
    public var graceUntil: Moment?
    /// What exactly it is about, so that an answer that is trusted for a while counts for the same again; `nil`: no
    /// answer is trusted.
    public var subject: String?
    /// How it looks and sounds; `nil`: as questions do.
    ///
    /// It stays until it is closed, however long messages would.
    public var appearance: Appearance?
    /// How much it disturbs; `nil`: as messages do.
    public var urgency: Urgency?

    /// A question of its obligatory parts; the rest is set where needed.
    public init(id: String, bot: String, text: String, choices: [String], askedAt: Moment) {
        self.id = id
        self.bot = bot
        self.text = text
        self.choices = choices
        self.askedAt = askedAt
        takesText = false
    }

    /// The answer that a person means by `text`: a choice, upper and lower case alike, or else any text where it is
    /// accepted; `nil`: it is no answer.
    public func answer(meantBy text: String) -> String? {
        if choices.contains(text) { return text }
        let alike = choices.filter { $0.lowercased() == text.lowercased() }
        if alike.count == 1 { return alike[0] }
        return takesText && !text.allSatisfy(\.isWhitespace) ? text : nil
    }

    // MARK: Buttons

    private static let keyPrefix = "answer-"

    /// The keys of its buttons, one for each choice: of a choice itself a desktop might make something else.
    public var buttonKeys: [String] { choices.indices.map { Self.keyPrefix + "\($0 + 1)" } }

    /// The choice of a button; `nil`: it has no such button.
    public func choice(ofButton key: String) -> String? {
        buttonKeys.firstIndex(of: key).map { choices[$0] }
    }

    // MARK: Words

    /// Who asks: the job of the run, or the bot.
    public var asker: String { run?.split(separator: "#").first.map(String.init) ?? bot }

    /// The command that answers it, for where there are no buttons: `belfry answer 7a11c0de yes|no`.
    public var command: String {
        let words = choices.map { choice in
            choice.utf8.allSatisfy(Self.isPlain) ? choice : "'\(choice)'"
        }
        return "belfry answer \(id.suffix(8)) \(words.isEmpty ? "TEXT" : words.joined(separator: "|"))"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
            || byte >= 0x80
    }

    /// What happens without an answer: `no answer within 30 min means no`; `nil`: it stays open.
    public var deadlineWords: String? {
        guard let deadline else { return nil }
        let wait = (deadline - askedAt).words
        return fallback.map { "no answer within \(wait) means \($0)" } ?? "open for \(wait)"
    }
}

/// Where a question is.
public enum QuestionState: String, Hashable, Codable, Sendable, CaseIterable {
    /// It can be answered. Becomes any of the others.
    case open
    /// Somebody answered it, or its default did.
    case answered
    /// Its deadline came first.
    case expired
    /// Who asked it no longer wants to know.
    case withdrawn
}

/// How a question was closed.
public struct QuestionEnd: Hashable, Codable, Sendable {
    /// ``by`` of an answer that nobody gave.
    public static let byDefault = "default"
    /// How ``by`` begins where an earlier answer, which is trusted for a while, was given again.
    public static let trust = "trust "

    /// Any but ``QuestionState/open``.
    public var state: QuestionState
    /// The answer; of an answered question only.
    public var answer: String?
    /// Where it was answered: a channel's name, `cli`, or ``byDefault``.
    public var by: String?
    /// When it was closed.
    public var at: Moment

    /// An end without an answer.
    public init(_ state: QuestionState, at moment: Moment) {
        self.state = state
        at = moment
    }

    /// An answer.
    public init(answer: String, by: String, at moment: Moment) {
        self.init(.answered, at: moment)
        self.answer = answer
        self.by = by
    }
}

/// A question as a person sees it: an item that stays until the question is closed.
///
/// The value is all there is to save between two events.
public struct QuestionItem: Hashable, Codable, Sendable {
    /// The question's id.
    public let id: String
    /// Counts the versions made, and the times it was removed.
    public private(set) var revision = 0

    private var isShown = false
    private var isClosed = false

    /// A question that is not asked yet.
    public init(id: String) { self.id = id }

    /// The question is asked.
    public mutating func ask(_ question: Question, at now: Moment) -> [ItemAction] {
        guard revision == 0, !isClosed else { return [] }
        revision = 1
        isShown = true
        let snapshot = ItemSnapshot(
            key: .question(id), revision: revision, bot: question.bot,
            urgency: question.urgency ?? .normal, reason: .asked,
            at: now, content: .question(question))
        return [.flush(snapshot)]
    }

    /// It was answered, or can no longer be.
    public mutating func close() -> [ItemAction] {
        isClosed = true
        return putAway()
    }

    /// A person has put away what this revision showed: the question stays open, and is not shown again.
    public mutating func dismissed(revision: Int) -> [ItemAction] {
        revision <= self.revision ? putAway() : []
    }

    /// A person has put it away, or it is to leave the screen.
    public mutating func putAway() -> [ItemAction] {
        guard isShown else { return [] }
        isShown = false
        revision += 1
        return [.resolve(revision: revision)]
    }
}
