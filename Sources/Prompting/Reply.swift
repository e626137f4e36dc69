package import Tracking

/// What happens while a provider replies to one prompt, in order.
///
/// A stream is at most one ``started(_:)`` first, then anything, then exactly one ``finished(_:)`` or ``failed(_:)``.
package enum ReplyEvent: Hashable, Sendable {
    /// The provider took the prompt. The continuation resumes the conversation there; nil where the caller keeps it.
    case started(Continuation?)
    /// Something arrived that says nothing but that the provider is alive.
    case activity
    /// The bot thinks: the next piece of it, which may be empty.
    case thinking(String)
    /// The next piece of the reply.
    case text(String)
    /// The bot began to call the tool of this name; its arguments are not complete.
    case calling(String)
    /// A tool call, complete.
    case toolCall(ToolCall)
    /// What the reply used so far; each replaces the one before.
    case usage(TokenUsage)
    /// The reply is complete, or ended for this reason.
    case finished(Finish)
    /// The reply failed; what came before is what there is of it.
    case failed(ReplyFailure)

    /// Whether nothing comes after it.
    package var isLast: Bool {
        switch self {
        case .finished, .failed: true
        case .started, .activity, .thinking, .text, .calling, .toolCall, .usage: false
        }
    }
}

/// Why a reply ended without a failure.
package struct Finish: Hashable, Sendable {
    /// The reasons that providers give.
    package enum Reason: Hashable, Sendable {
        /// The bot said all it wanted.
        case end
        /// The reply reached its largest size and was cut there.
        case maxTokens
        /// The bot waits for the results of its tool calls.
        case toolCalls
        /// The provider paused a long turn; sending the reply back resumes it.
        case pause
        /// The provider declined to reply; the text explains it, where there is one.
        case refusal(String?)
        /// The provider's filter stopped the reply.
        case filtered
        /// The model has no room for more.
        case contextFull
        /// A hook put a call off until a person has been asked; the call's id, where the program names it.
        case deferred(call: String?)
        /// A reason this version does not know.
        case other(String)
    }

    /// Why it ended.
    package var reason: Reason
    /// The reply as a turn of the conversation, with all that the provider wants back.
    package var turn: SpokenTurn
    /// A heading that the bot itself gives its reply; nil: none.
    package var title: String?
    /// How much the reply should disturb, in the bot's own words: low, normal or critical; nil: it says nothing.
    package var priority: String?
    /// Whether the bot wants nobody to be notified of its reply.
    package var isQuiet = false

    /// An end with the reply as a turn.
    package init(_ reason: Reason, turn: SpokenTurn, title: String? = nil, priority: String? = nil) {
        self.reason = reason
        self.turn = turn
        self.title = title
        self.priority = priority
    }
}

/// How many tokens a reply used, in the parts that prices differ by.
package struct TokenUsage: Hashable, Sendable {
    /// Read, and neither written to a cache nor found in one.
    package var input: Int
    /// Read and written to the provider's cache.
    package var cacheWrite: Int
    /// Found in the provider's cache.
    package var cacheRead: Int
    /// Written.
    package var output: Int
    /// What the provider says it cost, in USD; nil where it does not.
    package var costUSD: Double?

    /// A usage of the given parts.
    package init(
        input: Int = 0, cacheWrite: Int = 0, cacheRead: Int = 0, output: Int = 0, costUSD: Double? = nil
    ) {
        self.input = input
        self.cacheWrite = cacheWrite
        self.cacheRead = cacheRead
        self.output = output
        self.costUSD = costUSD
    }

    /// What two requests used together.
    package static func + (one: TokenUsage, other: TokenUsage) -> TokenUsage {
        func cost(_ one: Double?, _ other: Double?) -> Double? {
            one == nil && other == nil ? nil : (one ?? 0) + (other ?? 0)
        }
        return TokenUsage(
            input: (one.input + other.input).asTokens,
            cacheWrite: (one.cacheWrite + other.cacheWrite).asTokens,
            cacheRead: (one.cacheRead + other.cacheRead).asTokens,
            output: (one.output + other.output).asTokens, costUSD: cost(one.costUSD, other.costUSD))
    }

    /// A usage as a decoder reads it, where those found in a cache are among the tokens that were `read`.
    init(read: JSON?, ofCache: JSON?, written: JSON?) {
        let cached = ofCache?.tokens ?? 0
        self.init(
            input: max((read?.tokens ?? 0) - cached, 0), cacheRead: cached, output: written?.tokens ?? 0)
    }
}

extension JSON {
    /// A count of tokens, at most as many as are believed: anybody may have written it, and it is counted with.
    ///
    /// `nil` where it is no whole number.
    var tokens: Int? { int.map(\.asTokens) }
}

/// Reads the bytes of one provider's reply, however they are cut, and reports what they mean.
///
/// Anybody may have written the bytes. After a last event nothing more is reported.
package protocol ReplyDecoder: Sendable {
    /// Reads the next bytes and calls `report` with what they complete, in order.
    mutating func receive(_ bytes: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void)

    /// The bytes ended: reports the end, or that the reply was cut off, unless it is known already.
    mutating func end(_ report: (ReplyEvent) -> Void)
}

/// What every decoder keeps of a reply: how large it is, whether it said anything, whether it ended.
struct ReplyCount {
    /// The most bytes of text, thinking and arguments together.
    static let limit = 30 << 20

    private(set) var isOver = false
    private(set) var hasOutput = false
    private(set) var hasStarted = false
    private var bytes = 0

    /// Reports an event that is not the last; a reply that becomes too long ends here.
    mutating func report(_ event: ReplyEvent, _ report: (ReplyEvent) -> Void) {
        guard !isOver else { return }
        switch event {
        case .started:
            report(hasStarted ? .activity : event)
            hasStarted = true
        case .text(let text):
            guard !text.isEmpty else { return }
            let part = fitting(text)
            if !part.isEmpty {
                hasOutput = true
                report(.text(part))
            }
            if bytes > Self.limit { fail(ReplyFailure(.replyTooLong(limit: Self.limit)), report) }
        case .thinking(let text):
            guard count(text.utf8.count, report) else { return }
            report(event)
        case .toolCall:
            hasOutput = true
            report(event)
        default: report(event)
        }
    }

    /// Counts bytes that are kept and not reported yet; false when the reply ended because of them.
    mutating func count(_ more: Int, _ report: (ReplyEvent) -> Void) -> Bool {
        guard !isOver else { return false }
        bytes += more
        guard bytes > Self.limit else { return true }
        fail(ReplyFailure(.replyTooLong(limit: Self.limit)), report)
        return false
    }

    /// Reports a failure as the last event; `saidNothing` where what was reported explains only the failure.
    mutating func fail(
        _ failure: ReplyFailure, saidNothing: Bool = false, _ report: (ReplyEvent) -> Void
    ) {
        guard !isOver else { return }
        isOver = true
        var failure = failure
        failure.hasOutput = hasOutput && !saidNothing
        report(.failed(failure))
    }

    /// Reports as the last event that the reply is not what the provider promises to send.
    mutating func fail(malformed detail: String, _ report: (ReplyEvent) -> Void) {
        fail(ReplyFailure(.malformed, detail: CleanText.line(detail, limit: 200)), report)
    }

    /// Reports the end as the last event.
    mutating func finish(_ finish: Finish, _ report: (ReplyEvent) -> Void) {
        guard !isOver else { return }
        isOver = true
        report(.finished(finish))
    }

    /// The part of `text` that fits into the limit: a reply that is too long is kept up to there.
    private mutating func fitting(_ text: String) -> String {
        let room = Self.limit - bytes
        bytes += text.utf8.count
        guard text.utf8.count > room else { return text }
        var part = ""
        for character in text {
            guard part.utf8.count + character.utf8.count <= room else { break }
            part.append(character)
        }
        return part
    }
}

extension EventStreamParser {
    /// The events that `bytes` complete, in order, and whether what follows them is too long to be read.
    mutating func events(in bytes: ArraySlice<UInt8>) -> (events: [Event], isTooLong: Bool) {
        var events: [Event] = []
        do throws(Failure) {
            try receive(bytes) { events.append($0) }
            return (events, false)
        } catch {
            return (events, true)
        }
    }
}

/// A reply while it comes: its text so far, and how far it is as a live state shows it.
package struct ReplyProgress: Hashable, Sendable {
    /// How often the words are counted out loud at most.
    package static let interval = Duration.milliseconds(250)
    /// Before anything has come.
    package static let waiting = ProgressReport(phase: "waiting for the reply")

    /// What was said so far.
    package private(set) var text = ""
    /// The tokens used so far; nil: nothing is known yet.
    package private(set) var usage: TokenUsage?
    private var phase = ""
    private var words = 0
    private var isInWord = false

    /// Nothing so far.
    package init() {}

    /// Takes the next event up; whether the phase is another one now.
    package mutating func note(_ event: ReplyEvent) -> Bool {
        let before = phase
        switch event {
        case .thinking: phase = "thinking"
        case .text(let piece):
            phase = ReplyPhase.writing
            count(piece)
            text += piece
        case .calling(let name): phase = "tool \(CleanText.line(name, limit: 40))"
        case .toolCall(let call): phase = "tool \(CleanText.line(call.name, limit: 40))"
        case .usage(let usage): self.usage = usage
        case .started, .activity, .finished, .failed: break
        }
        return phase != before
    }

    /// How far it is; nil while nothing has come.
    package var report: ProgressReport? {
        guard !phase.isEmpty else { return nil }
        let message = words == 0 ? nil : "\(words) word\(words == 1 ? "" : "s")"
        return ProgressReport(phase: phase, message: phase == ReplyPhase.writing ? message : nil)
    }

    private mutating func count(_ piece: String) {
        for byte in piece.utf8 {
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            if !isSpace, !isInWord { words += 1 }
            isInWord = !isSpace
        }
    }
}
