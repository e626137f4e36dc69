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
        case .rateLimited(let after?), .overloaded(let after?):
            return retryAdvice == false ? .never : .after(after)
        case .rateLimited(nil), .overloaded(nil), .server, .network, .silent, .truncated, .program(exit: 75):
            return retryAdvice == false ? .never : .soon
        case .auth, .model, .address, .badRequest, .promptTooLong, .budget, .refusedAddress, .deadline,
            .malformed, .replyTooLong, .program:
            return retryAdvice == true ? .soon : .never
        case .refused, .endedEarly: return .never
        }
    }
}

extension Finish {
    /// The failure that this end is; nil: the bot said all it wanted.
    package func failure(hasOutput: Bool) -> ReplyFailure? {
        switch reason {
        case .end, .toolCalls, .pause, .other: nil
        case .refusal(let text): ReplyFailure(.refused, detail: text ?? "", hasOutput: hasOutput)
        case .maxTokens: ReplyFailure(.endedEarly(.maxTokens), hasOutput: hasOutput)
        case .contextFull: ReplyFailure(.endedEarly(.contextFull), hasOutput: hasOutput)
        case .filtered: ReplyFailure(.endedEarly(.filter), hasOutput: hasOutput)
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
