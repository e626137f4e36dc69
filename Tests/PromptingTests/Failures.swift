import Prompting
import Testing

@Suite struct `a failure of a provider` {
    private let place = ReplyFailure.Place(bot: "sage", provider: "api.anthropic.com")

    private func failure(
        _ status: Int, _ body: String, after: Duration? = nil, advice: Bool? = nil
    ) -> ReplyFailure {
        ProviderAnswer(status: status, body: Array(body.utf8), retryAfter: after, retryAdvice: advice)
            .failure(model: "haiku")
    }

    private static func anthropic(_ type: String, _ message: String = "x") -> String {
        #"{"type":"error","error":{"type":"\#(type)","message":"\#(message)"},"request_id":"req_1"}"#
    }

    @Test func `of the key names the key's place and never quotes what the provider says of it`() {
        let failure = failure(401, Self.anthropic("authentication_error", "invalid x-api-key: sk-12"))
        #expect(failure.sentence(at: place) == "sage: api.anthropic.com refused the key (401)")
        #expect(failure.hint(at: place) == "check bots.sage.key")
        #expect(failure.retry == .never)
    }

    @Test func `of the model names it and the models there are`() {
        var failure = failure(404, Self.anthropic("not_found_error", "model: haiku"))
        #expect(failure.kind == .model("haiku", known: []))
        #expect(failure.sentence(at: place) == "sage: api.anthropic.com has no model haiku (404)")
        #expect(failure.hint(at: place) == "check bots.sage.model")
        failure.kind = .model("haiku", known: (1...12).map { "m\($0)" })
        #expect(
            failure.hint(at: place)
                == "set bots.sage.model to one of: m1, m2, m3, m4, m5, m6, m7, m8, m9, m10 and 2 more")
        #expect(failure.retry == .never)
    }

    @Test(arguments: [
        (400, "invalid_request_error", "badRequest", ReplyFailure.Retry.never),
        (402, "billing_error", "budget", .never), (403, "permission_error", "auth", .never),
        (404, "not_found_error", "address", .never), (409, "conflict_error", "server", .soon),
        (413, "request_too_large", "promptTooLong", .never), (429, "rate_limit_error", "rateLimited", .soon),
        (500, "api_error", "server", .soon), (504, "timeout_error", "server", .soon),
        (529, "overloaded_error", "overloaded", .soon), (418, "teapot", "badRequest", .never),
    ])
    func `of Anthropic's has a kind that decides about another try`(
        status: Int, type: String, word: String, retry: ReplyFailure.Retry
    ) {
        let failure = failure(status, Self.anthropic(type))
        #expect(failure.word == word)
        #expect(failure.retry == retry)
        #expect(failure.status == status)
    }

    @Test(arguments: [
        (400, #"{"error":{"message":"too long","code":"context_length_exceeded"}}"#, "promptTooLong"),
        (401, #"{"error":{"message":"Incorrect key","code":"invalid_api_key"}}"#, "auth"),
        (404, #"{"error":{"message":"no haiku","code":"model_not_found"}}"#, "model"),
        (404, #"{"error":"model 'haiku' not found, try pulling it first"}"#, "model"),
        (
            400, #"{"error":{"message":"/chat/completions: Invalid model name passed in model=haiku"}}"#,
            "model"
        ),
        (400, #"{"message":"Invalid model: haiku","type":"invalid_model"}"#, "model"),
        (400, #"{"error":{"message":"max_tokens is too large for this model"}}"#, "badRequest"),
        (404, #"{"detail":"Not Found"}"#, "address"), (404, "<html>nginx</html>", "address"),
        (429, #"{"error":{"message":"no credit","code":"insufficient_quota"}}"#, "budget"),
        (429, #"{"error":{"details":{"error_code":"enforced_spend_limit_reached"}}}"#, "budget"),
        (503, "", "overloaded"), (502, "<html>bad gateway</html>", "server"), (400, "<html>", "address"),
        (302, "", "malformed"), (204, "", "malformed"),
    ])
    func `of other servers has a kind as well`(status: Int, body: String, word: String) {
        #expect(failure(status, body).word == word)
    }

    @Test func `with too many requests waits as long as it is asked to`() {
        let failure = failure(429, Self.anthropic("rate_limit_error"), after: .seconds(90))
        #expect(failure.retry == .after(.seconds(90)))
        #expect(
            failure.sentence(at: place)
                == "sage: api.anthropic.com received too many requests (429); it asks to wait 90 s")
    }

    @Test func `follows what the provider says about another try`() {
        #expect(failure(500, "", advice: false).retry == .never)
        #expect(failure(400, "", advice: true).retry == .soon)
    }

    @Test func `after a part of the reply is never tried again`() {
        for kind in [ReplyFailure.Kind.overloaded(after: .seconds(1)), .truncated, .network, .server] {
            #expect(ReplyFailure(kind, hasOutput: true, retryAdvice: true).retry == .never)
        }
    }

    @Test func `shows a page or another text in one clean line`() {
        let page = failure(500, "<!DOCTYPE html><html>\u{1B}[31m")
        #expect(page.sentence(at: place) == "sage: api.anthropic.com failed (500): an HTML page")
        let text = failure(500, "over\u{1B}[31m\nload \u{202E}")
        #expect(text.sentence(at: place) == "sage: api.anthropic.com failed (500): over load")
    }

    @Test func `has a sentence for each kind`() {
        let kinds: [(ReplyFailure.Kind, String)] = [
            (.budget, "has no credit left for this key"), (.silent(.seconds(60)), "sent nothing for 60 s"),
            (.deadline(.seconds(1801)), "did not complete the reply within 31 min"),
            (.truncated, "ended the reply in the middle"),
            (.usageLimit(after: nil), "reached its usage limit"),
            (.replyTooLong(limit: 30 << 20), "sent a reply of more than 30 MiB"),
            (.program(exit: 75), "ended with exit code 75"), (.program(exit: nil), "was ended by a signal"),
            (.network, "cannot be reached"), (.overloaded(after: nil), "is overloaded"),
        ]
        for (kind, sentence) in kinds {
            #expect(ReplyFailure(kind).sentence(at: place) == "sage: api.anthropic.com \(sentence)")
        }
    }

    @Test func `is an end before all was said, with what to do about it`() {
        func failure(_ reason: Finish.Reason) -> ReplyFailure? {
            Finish(reason, turn: SpokenTurn(.assistant, "Half")).failure(hasOutput: true)
        }
        let refused = failure(.refusal("I can't help."))
        #expect(
            refused?.sentence(at: place) == "sage: api.anthropic.com declined to reply: I can't help.")
        let cut = failure(.maxTokens)
        #expect(
            cut?.sentence(at: place) == "sage: api.anthropic.com ended the reply at its largest size")
        #expect(cut?.hint(at: place) == "raise bots.sage.maxTokens")
        #expect(failure(.contextFull)?.kind == .endedEarly(.contextFull))
        #expect(failure(.filtered)?.kind == .endedEarly(.filter))
        for reason in [Finish.Reason.refusal(nil), .maxTokens, .contextFull, .filtered] {
            #expect(
                Finish(reason, turn: SpokenTurn(.assistant, [])).failure(hasOutput: false)?.retry == .never)
        }
        for reason in [Finish.Reason.end, .toolCalls, .pause, .other("eos")] {
            #expect(failure(reason) == nil)
        }
    }

    @Test func `is tried again at once twice, after half a second and a second, less by chance`() {
        var retries = RequestRetries()
        let failure = ReplyFailure(.server)
        #expect(retries.wait(after: failure, chance: 0) == .milliseconds(500))
        #expect(retries.wait(after: failure, chance: 1) == .milliseconds(750))
        #expect(retries.wait(after: failure, chance: 0) == nil)
    }

    @Test func `with a longer wait than a minute is the scheduler's`() {
        var retries = RequestRetries()
        #expect(retries.wait(after: ReplyFailure(.rateLimited(after: .seconds(61))), chance: 0) == nil)
        #expect(
            retries.wait(after: ReplyFailure(.rateLimited(after: .seconds(60))), chance: 0) == .seconds(60))
        #expect(retries.wait(after: ReplyFailure(.auth), chance: 0) == nil)
        // Nothing came for a minute or more: others wait for the bot.
        #expect(retries.wait(after: ReplyFailure(.silent(.seconds(60))), chance: 0) == nil)
    }
}
