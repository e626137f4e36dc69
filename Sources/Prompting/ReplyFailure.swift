package import Timeline

/// Why there is no reply, or only a part of one.
package struct ReplyFailure: Error, Hashable, Sendable {
    /// What kind of failure it is: decides whether trying again can help, and what a person should do.
    package enum Kind: Hashable, Sendable {
        /// The provider refused the key.
        case auth
        /// The provider knows no such model; the ones it has, where it named them.
        case model(String, known: [String])
        /// There is nothing of that kind at the address.
        case address
        /// The provider refused the request itself.
        case badRequest
        /// The prompt is larger than the provider accepts.
        case promptTooLong
        /// The account has no credit left, or reached its spending limit.
        case budget
        /// The account used all that it may within some hours or days; ends after this long, where that is known.
        case usageLimit(after: Duration?)
        /// Too many requests; the provider may say how long to wait.
        case rateLimited(after: Duration?)
        /// The provider has too much to do.
        case overloaded(after: Duration?)
        /// The provider failed.
        case server
        /// No connection.
        case network
        /// The address rules allow no connection to this address.
        case refusedAddress
        /// Nothing arrived for this long.
        case silent(Duration)
        /// The whole reply took longer than this.
        case deadline(Duration)
        /// The stream ended in the middle of the reply.
        case truncated
        /// What came is not what the provider promises.
        case malformed
        /// The reply is longer than this many bytes.
        case replyTooLong(limit: Int)
        /// The bot declined to reply.
        case refused
        /// The provider ended the reply by itself before the bot had said all it wanted.
        case endedEarly(Limit)
        /// The program ended with this code, or nil by a signal.
        case program(exit: Int?)
    }

    /// What ended a reply before the bot had said all it wanted.
    package enum Limit: String, Hashable, Sendable {
        /// The reply reached its largest size.
        case maxTokens
        /// The model has no room for more.
        case contextFull
        /// The provider's filter stopped it.
        case filter
        /// The bot called tools in each of the turns that it may take.
        case turns
    }

    /// What kind of failure.
    package var kind: Kind
    /// The HTTP status, where there was one.
    package var status: Int?
    /// What the provider said, as one clean line; empty where that adds nothing.
    package var detail: String
    /// Whether a part of the reply was reported before: trying again could say or do it twice.
    package var hasOutput: Bool
    /// What the provider says about trying again, against the rule of the kind; nil: nothing.
    package var retryAdvice: Bool?
    /// The parameter of the request that the model does not have; nil: it was not refused for one.
    package var refusedParameter: String?
    /// When the account's limit ends, as the provider says; nil: it does not say.
    package var limitEnd: Moment?

    /// A failure before any output, unless said otherwise.
    package init(
        _ kind: Kind, status: Int? = nil, detail: String = "", hasOutput: Bool = false,
        retryAdvice: Bool? = nil
    ) {
        self.kind = kind
        self.status = status
        self.detail = detail
        self.hasOutput = hasOutput
        self.retryAdvice = retryAdvice
    }

    /// A word for logs and metrics; never changes.
    package var word: String {
        switch kind {
        case .auth: "auth"
        case .model: "model"
        case .address: "address"
        case .badRequest: "badRequest"
        case .promptTooLong: "promptTooLong"
        case .budget: "budget"
        case .usageLimit: "usageLimit"
        case .rateLimited: "rateLimited"
        case .overloaded: "overloaded"
        case .server: "server"
        case .network: "network"
        case .refusedAddress: "refusedAddress"
        case .silent: "silent"
        case .deadline: "deadline"
        case .truncated: "truncated"
        case .malformed: "malformed"
        case .replyTooLong: "replyTooLong"
        case .refused: "refused"
        case .endedEarly: "endedEarly"
        case .program: "program"
        }
    }
}

// Whether trying again can help.
extension ReplyFailure {
    /// What a caller may do about a failure.
    package enum Retry: Hashable, Sendable {
        /// Trying again changes nothing, or could repeat what was already said or done.
        case never
        /// Trying again may help, after a pause that grows.
        case soon
        /// Trying again helps after this long at the earliest.
        case after(Duration)
    }

    /// Whether and when to try again.
    package var retry: Retry {
        if hasOutput { return .never }
        switch kind {
        case .rateLimited(let after?), .overloaded(let after?), .usageLimit(let after?):
            return retryAdvice == false ? .never : .after(after)
        case .rateLimited(nil), .overloaded(nil), .server, .network, .silent, .truncated, .program(exit: 75):
            return retryAdvice == false ? .never : .soon
        case .auth, .model, .address, .badRequest, .promptTooLong, .budget, .refusedAddress, .deadline,
            .malformed, .replyTooLong, .program, .usageLimit(nil):
            return retryAdvice == true ? .soon : .never
        case .refused, .endedEarly: return .never
        }
    }
}

extension ReplyFailure {
    /// The same failure where it is known how long its limit lasts from now on.
    package func counted(from now: Moment) -> ReplyFailure {
        guard case .usageLimit = kind, let limitEnd else { return self }
        var failure = self
        failure.kind = .usageLimit(after: max(limitEnd - now, .zero))
        return failure
    }
}

extension Finish {
    /// The failure that this end is; nil: the bot said all it wanted.
    package func failure(hasOutput: Bool) -> ReplyFailure? {
        switch reason {
        case .end, .toolCalls, .pause, .deferred, .other: nil
        case .refusal(let text): ReplyFailure(.refused, detail: text ?? "", hasOutput: hasOutput)
        case .maxTokens: ReplyFailure(.endedEarly(.maxTokens), hasOutput: hasOutput)
        case .contextFull: ReplyFailure(.endedEarly(.contextFull), hasOutput: hasOutput)
        case .filtered: ReplyFailure(.endedEarly(.filter), hasOutput: hasOutput)
        }
    }
}

extension ReplyEvent {
    /// The failure that the event reports; nil: it reports none.
    ///
    /// `hasOutput`: whether the bot said something before.
    package func failure(hasOutput: Bool) -> ReplyFailure? {
        switch self {
        case .failed(let failure): failure
        case .finished(let end): end.failure(hasOutput: hasOutput)
        default: nil
        }
    }
}

/// How often and after which pauses a request is repeated at once, before the failure is the scheduler's matter.
///
/// - Source: the official SDKs of Anthropic and OpenAI: 2 retries, 0.5 s doubling to 8 s, up to a quarter less by chance.
package struct RequestRetries: Hashable, Sendable {
    /// How often a request is repeated.
    package static let limit = 2
    /// A wait longer than this belongs to the scheduler, not to a request that sleeps.
    package static let longestWait = Duration.seconds(60)

    private var made = 0

    /// Nothing was repeated so far.
    package init() {}

    /// How long to wait before the request is repeated; nil: it is not repeated here.
    ///
    /// `chance` is 0...1, so that many callers do not all come back at one moment.
    package mutating func wait(after failure: ReplyFailure, chance: Double) -> Duration? {
        guard made < Self.limit else { return nil }
        // That took long: what else waits for the bot goes first.
        if case .silent = failure.kind { return nil }
        var wait: Duration
        switch failure.retry {
        case .never: return nil
        case .soon:
            wait = min(.milliseconds(500) * (1 << made), .seconds(8)) * (1 - 0.25 * min(max(chance, 0), 1))
        case .after(let asked): wait = max(asked, .zero)
        }
        guard wait <= Self.longestWait else { return nil }
        made += 1
        if wait == .zero { wait = .milliseconds(1) }
        return wait
    }
}

// What a person reads of a failure.
extension ReplyFailure {
    /// Who failed: the bot's name, and what it talks to, as a host or a program.
    package struct Place: Hashable, Sendable {
        /// The bot's name.
        package var bot: String
        /// The host or the program, without path, user or secret.
        package var provider: String
        /// Whether it is a program.
        package var isProgram: Bool

        /// A bot and what it talks to, a host unless said otherwise.
        package init(bot: String, provider: String, isProgram: Bool = false) {
            self.bot = bot
            self.provider = provider
            self.isProgram = isProgram
        }
    }

    /// What failed, on what, and why: one sentence without a full stop.
    ///
    /// Of ``detail`` only what the provider says about the prompt is in it, never what it says about a key.
    package func sentence(at place: Place) -> String {
        "\(place.bot): \(place.provider) \(problem)"
    }

    private var code: String { status.map { " (\($0))" } ?? "" }
    private var because: String { detail.isEmpty ? "" : ": \(detail)" }

    private var problem: String {
        switch kind {
        case .auth: "refused the key\(code)"
        case .model(let name, _): "has no model \(name)\(code)"
        case .address: "has nothing at this address\(code)"
        case .badRequest: "rejected the request\(code)\(because)"
        case .promptTooLong: "rejected the prompt as too long\(code)\(because)"
        case .budget: "has no credit left for this key\(code)\(because)"
        case .usageLimit(let after):
            "reached its usage limit" + (after.map { ", which ends in \($0.coarse)" } ?? because)
        case .rateLimited(let after):
            "received too many requests\(code)" + (after.map { "; it asks to wait \($0.coarse)" } ?? "")
        case .overloaded: "is overloaded\(code)"
        case .server: "failed\(code)\(because)"
        case .network: "cannot be reached\(because)"
        case .refusedAddress: "has an address that is not allowed\(because)"
        case .silent(let time): "sent nothing for \(time.coarse)"
        case .deadline(let time): "did not complete the reply within \(time.coarse)"
        case .truncated: "ended the reply in the middle\(because)"
        case .malformed: "sent an answer that cannot be read\(code)\(because)"
        case .replyTooLong(let limit): "sent a reply of more than \(limit >> 20) MiB"
        case .refused: "declined to reply\(because)"
        case .endedEarly(.maxTokens): "ended the reply at its largest size"
        case .endedEarly(.contextFull): "ended the reply because the model has no room for more"
        case .endedEarly(.filter): "ended the reply because of its content filter"
        case .endedEarly(.turns): "still called tools in the last turn it may take"
        case .program(let exit):
            (exit.map { "ended with exit code \($0)" } ?? "was ended by a signal") + because
        }
    }

    /// What to do about it; nil where only waiting helps.
    package func hint(at place: Place) -> String? {
        switch kind {
        case .auth where place.isProgram: "log in with \(place.provider), or set bots.\(place.bot).key"
        case .malformed where place.isProgram: "check the command and the output of bots.\(place.bot).backend"
        case .auth: "check bots.\(place.bot).key"
        case .model(_, let known):
            known.isEmpty
                ? "check bots.\(place.bot).model"
                : "set bots.\(place.bot).model to one of: \(Self.listed(known))"
        case .address: "check bots.\(place.bot).url"
        case .badRequest: nil
        case .promptTooLong: "shorten the prompt, or start the conversation again"
        case .budget: "check the account's credit and spending limits"
        case .rateLimited, .overloaded, .server, .truncated, .usageLimit: nil
        case .network: "check bots.\(place.bot).url and the network"
        case .refusedAddress: "name the address under bots.\(place.bot).allow"
        case .silent, .deadline: "check whether \(place.provider) is busy or the model is still loading"
        case .malformed: "check that bots.\(place.bot).url is the address of the API"
        case .replyTooLong: "set bots.\(place.bot).maxTokens"
        case .endedEarly(.maxTokens): "raise bots.\(place.bot).maxTokens"
        case .endedEarly(.turns): "raise bots.\(place.bot).maxTurns"
        case .endedEarly(.contextFull): "shorten the prompt, or start the conversation again"
        case .refused, .endedEarly(.filter), .program: nil
        }
    }

    private static func listed(_ names: [String]) -> String {
        let shown = 10
        let more = names.count > shown ? " and \(names.count - shown) more" : ""
        return names.prefix(shown).joined(separator: ", ") + more
    }
}

extension Duration {
    /// Whole seconds below two minutes, whole minutes below two hours, whole hours else; rounded up.
    fileprivate var coarse: String {
        let (whole, part) = components
        let seconds = max(whole + (part > 0 ? 1 : 0), 0)
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\((seconds + 59) / 60) min" }
        return "\((seconds + 3599) / 3600) h"
    }
}
