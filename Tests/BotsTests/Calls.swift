import Bots
import Curl
import Delivery
import Prompting
import TestSupport
import Testing
import Timeline

/// A bot whose provider is a server of the test.
struct Scene {
    let server: ProviderServer
    let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
    let curl: CurlMulti
    private let dialect: BotBackend.Dialect

    init(_ server: ProviderServer) throws { try self.init(.openAI, server) }

    init(_ dialect: BotBackend.Dialect, _ server: ProviderServer) throws {
        self.server = server
        self.dialect = dialect
        curl = try CurlMulti()
    }

    static let prompt = Prompt(model: "haiku", turns: [SpokenTurn(.user, "Hi")], maxTokens: 100)

    func call(
        timeouts: BotCall.Timeouts = .init(), allow: [String] = ["127.0.0.1/32"], host: String = "127.0.0.1",
        sizeNames: SizeNames = SizeNames(), at other: RefusingPort? = nil
    ) throws -> BotCall {
        let path = dialect == .openAI ? "/v1/" : ""
        let url = other?.url(path) ?? server.url(path, host: host)
        let reach = try HTTPReach(
            url: HTTPAddress(url), allow: allow.map { text throws(FormError) in try AddressException(text) })
        let endpoint = BotEndpoint(
            bot: "sage", BotBackend(dialect, reach: reach, model: "haiku"), key: BotKey(" sk-secret\n"))
        return try BotCall(
            endpoint, curl: curl, clock: clock, userAgent: "Belfry/test", timeouts: timeouts,
            sizeNames: sizeNames)
    }

    /// What a call reports.
    func ask(
        timeouts: BotCall.Timeouts = .init(), allow: [String] = ["127.0.0.1/32"],
        at other: RefusingPort? = nil
    ) async throws -> [ReplyEvent] {
        var events: [ReplyEvent] = []
        try await call(timeouts: timeouts, allow: allow, at: other).ask(Self.prompt) { events.append($0) }
        return events
    }
}

extension [ReplyEvent] {
    var text: String { map { if case .text(let text) = $0 { text } else { "" } }.joined() }
    var failure: ReplyFailure? { if case .failed(let failure)? = last { failure } else { nil } }
    var finish: Finish? { if case .finished(let finish)? = last { finish } else { nil } }
}

enum Streams {
    static let chat =
        #"data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}"# + "\n\n"
        + #"data: {"choices":[{"index":0,"delta":{"content":" there"},"finish_reason":"stop"}]}"#
        + "\n\ndata: [DONE]\n\n"
    static let messages =
        #"data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}"# + "\n\n"
        + #"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}"#
        + "\n\n"
        + #"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#
        + "\n\n" + #"data: {"type":"message_stop"}"# + "\n\n"
}

@Suite(.timeLimit(.minutes(5))) struct `a call of a provider` {
    @Test func `sends the prompt to Anthropic's API and reports the reply`() async throws {
        let scene = try Scene(.anthropic, await ProviderServer(.init(Streams.messages, piece: 5)))
        let events = try await scene.ask()
        #expect(events.text == "Hello")
        #expect(events.finish?.reason == .end)
        let request = try await scene.server.request()
        #expect(request.method == "POST")
        #expect(request.path == "/v1/messages")
        #expect(request.headers["x-api-key"] == "sk-secret")
        #expect(request.headers["anthropic-version"] == "2023-06-01")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.body.contains(#""stream":true"#))
    }

    @Test func `sends the prompt to a compatible server and reports the reply`() async throws {
        let scene = try Scene(.openAI, await ProviderServer(.init(Streams.chat, piece: 5)))
        let events = try await scene.ask()
        #expect(events.text == "Hello there")
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "Hello there")))
        let request = try await scene.server.request()
        #expect(request.path == "/v1/chat/completions")
        #expect(request.headers["authorization"] == "Bearer sk-secret")
    }

    @Test func `fails at once when the key is refused, and shows nothing of it`() async throws {
        let body = #"{"error":{"message":"bad key sk-secret","code":"invalid_api_key"}}"#
        let scene = try Scene(await ProviderServer(.init(body, status: 401, type: "application/json")))
        let failure = try await scene.ask().failure
        #expect(failure?.kind == .auth)
        #expect("\(String(describing: failure))".contains("sk-secret") == false)
        #expect("\(try scene.call())".contains("sk-secret") == false)
    }

    @Test func `names the models there are when there is no such model`() async throws {
        let scene = try Scene(
            await ProviderServer(
                .init(
                    #"{"error":"model 'haiku' not found"}"#, status: 404, type: "application/json"),
                .init(
                    #"{"object":"list","data":[{"id":"llama3:8b"},{"id":"gemma"}]}"#, type: "application/json"
                )))
        #expect(try await scene.ask().failure?.kind == .model("haiku", known: ["gemma", "llama3:8b"]))
        _ = try await scene.server.request()
        #expect(try await scene.server.request().path == "/v1/models")
    }

    @Test func `of a reply that pauses is sent back what was said, and counts all that was used`()
        async throws
    {
        let paused = Streams.messages.replacing("end_turn", with: "pause_turn")
        let scene = try Scene(.anthropic, await ProviderServer(.init(paused), .init(Streams.messages)))
        let events = try await scene.ask()
        #expect(events.text == "HelloHello")
        #expect(
            events.finish == Finish(.end, turn: SpokenTurn(.assistant, [.text("Hello"), .text("Hello")])))
        #expect(events.filter { if case .started = $0 { true } else { false } }.count == 1)
        let used = events.compactMap { if case .usage(let usage) = $0 { usage } else { nil } }.last
        #expect(used == TokenUsage(input: 6, output: 4))
        #expect(!(try await scene.server.request()).body.contains("assistant"))
        #expect(
            try await scene.server.request().body.contains(
                #"{"role":"assistant","content":[{"type":"text","text":"Hello"}]}"#))
    }

    @Test func `of a reply that pauses without a word is not repeated`() async throws {
        let paused =
            #"data: {"type":"message_start","message":{}}"# + "\n\n"
            + #"data: {"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"# + "\n\n"
            + #"data: {"type":"message_stop"}"# + "\n\n"
        let scene = try Scene(.anthropic, await ProviderServer(.init(paused)))
        let failure = try await scene.ask().failure
        #expect(failure?.kind == .truncated && failure?.retry == .never)
        #expect(failure?.detail == "it paused without a word")
    }

    @Test func `of a reply that pauses for ever ends, and keeps what came`() async throws {
        let paused = Streams.messages.replacing("end_turn", with: "pause_turn")
        let scene = try Scene(.anthropic, await ProviderServer(.init(paused)))
        let events = try await scene.ask()
        #expect(events.text == String(repeating: "Hello", count: 9))
        #expect(
            events.failure
                == ReplyFailure(.truncated, detail: "it paused more than 8 times", hasOutput: true))
    }

    @Test func `is repeated after the wait that the provider asks for`() async throws {
        let scene = try Scene(
            await ProviderServer(
                .init("{}", status: 429, type: "application/json", headers: ["Retry-After": "7"]),
                .init(Streams.chat)))
        let asking = Task { try await scene.ask() }
        #expect(await scene.clock.nextSleeper() == scene.clock.now + .milliseconds(7001))
        scene.clock.advance(by: .milliseconds(7001))
        #expect(try await asking.value.text == "Hello there")
    }

    @Test func `is repeated twice and not more`() async throws {
        let scene = try Scene(await ProviderServer(.init("", status: 529, type: "text/plain")))
        let asking = Task { try await scene.ask() }
        for _ in 0..<2 { scene.clock.advance(to: await scene.clock.nextSleeper()) }
        #expect(try await asking.value.failure == ReplyFailure(.overloaded(after: nil), status: 529))
    }

    @Test func `leaves a long wait to the scheduler`() async throws {
        let scene = try Scene(
            await ProviderServer(
                .init("{}", status: 429, type: "application/json", headers: ["Retry-After": "3600"])))
        #expect(try await scene.ask().failure?.kind == .rateLimited(after: .seconds(3600)))
    }

    @Test(arguments: [
        (429, ["retry-after-ms": "7200000", "Retry-After": "1"], ReplyFailure.Retry.after(.seconds(7200))),
        (429, ["Retry-After": "Mon, 26 Oct 2026 08:33:20 GMT"], .after(.seconds(3600))),
        (529, ["x-should-retry": "false", "Retry-After": "1"], .never),
        (500, ["x-should-retry": "False"], .never),
    ])
    func `is repeated as the provider's headers advise`(
        status: Int, headers: [String: String], retry: ReplyFailure.Retry
    ) async throws {
        let scene = try Scene(
            await ProviderServer(
                .init("{}", status: status, type: "application/json", headers: headers), .init(Streams.chat)))
        // None of them is asked for again at once: the second answer would be a reply.
        #expect(try await scene.ask().failure?.retry == retry)
    }

    @Test func `is given up after a minute of silence, unless set otherwise`() {
        #expect(BotCall.Timeouts().silence == .seconds(60))
    }

    @Test(arguments: [BotBackend.Dialect.anthropic, .openAI])
    func `waits until the rates of Anthropic's headers end`(dialect: BotBackend.Dialect) async throws {
        let headers = [
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2026-10-26T07:34:20Z",
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": "2026-10-26T08:33:20Z",
            "anthropic-ratelimit-output-tokens-remaining": "900",
            "anthropic-ratelimit-output-tokens-reset": "2026-10-27T00:00:00Z",
        ]
        let scene = try Scene(
            dialect,
            await ProviderServer(.init("{}", status: 429, type: "application/json", headers: headers)))
        #expect(scene.clock.now == Moment(seconds: 1_793_000_000))
        guard dialect == .anthropic else {
            // Nobody else's headers mean that.
            let asking = Task { try await scene.ask() }
            for _ in 0..<2 { scene.clock.advance(to: await scene.clock.nextSleeper()) }
            #expect(try await asking.value.failure?.kind == .rateLimited(after: nil))
            return
        }
        let end = try Moment(iso8601: "2026-10-26T08:33:20Z")
        #expect(try await scene.ask().failure?.kind == .rateLimited(after: end - scene.clock.now))
    }

    @Test func `does not wait beyond its own deadline`() async throws {
        let scene = try Scene(
            await ProviderServer(
                .init("{}", status: 529, type: "application/json", headers: ["Retry-After": "7"])))
        // The first wait fits, the second does not.
        let asking = Task { try await scene.ask(timeouts: .init(total: .seconds(10))) }
        #expect(await scene.clock.nextSleeper() == scene.clock.now + .milliseconds(7001))
        scene.clock.advance(by: .milliseconds(7001))
        #expect(try await asking.value.failure?.kind == .overloaded(after: .seconds(7)))
    }

    @Test func `names the largest size as the model wants it, and knows that from then on`() async throws {
        let refusal =
            #"{"error":{"message":"Unsupported parameter: 'max_tokens'.","#
            + #""type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#
        let scene = try Scene(
            await ProviderServer(
                .init(refusal, status: 400, type: "application/json"), .init(Streams.chat)))
        let names = SizeNames()
        for _ in 0..<2 {
            var events: [ReplyEvent] = []
            try await scene.call(sizeNames: names).ask(Scene.prompt) { events.append($0) }
            #expect(events.text == "Hello there")
        }
        #expect(try await scene.server.request().body.contains(#""max_tokens":100"#))
        #expect(try await scene.server.request().body.contains(#""max_completion_tokens":100"#))
        #expect(try await scene.server.request().body.contains(#""max_completion_tokens":100"#))
    }

    @Test func `fails when the model refuses both names of the largest size`() async throws {
        let refusal = #"{"error":{"message":"no","param":"max_tokens","code":"unsupported_parameter"}}"#
        let scene = try Scene(await ProviderServer(.init(refusal, status: 400, type: "application/json")))
        #expect(try await scene.ask().failure?.kind == .badRequest)
    }

    @Test func `can be canceled while it waits`() async throws {
        let scene = try Scene(
            await ProviderServer(
                .init("{}", status: 429, type: "application/json", headers: ["Retry-After": "50"])))
        let asking = Task { try await scene.ask() }
        _ = await scene.clock.nextSleeper()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test func `is not repeated after a part of the reply, which is kept`() async throws {
        let half = String(Streams.chat.prefix { $0 != "[" }.prefix(90))
        let start =
            #"data: {"choices":[{"index":0,"delta":{"content":"Half a"}}]}"# + "\n\n" + half.prefix(20)
        for end in [ProviderServer.Answer.End.end, .cut] {
            let scene = try Scene(await ProviderServer(.init(start, then: end)))
            let events = try await scene.ask()
            #expect(events.text == "Half a")
            #expect(events.failure?.kind == .truncated)
            #expect(events.failure?.hasOutput == true)
        }
    }

    @Test func `gives up a stream that is silent, and keeps what came before`() async throws {
        let start = #"data: {"choices":[{"index":0,"delta":{"content":"Half a"}}]}"# + "\n\n"
        let scene = try Scene(await ProviderServer(.init(start, then: .hang)))
        var text = ""
        // A busy machine may be silent for so long before that, and the next one waits longer.
        for silence in [Duration.milliseconds(100), .seconds(3), .seconds(30)] where text.isEmpty {
            let events = try await scene.ask(timeouts: .init(silence: silence))
            text = events.text
            #expect(events.failure?.kind == .silent(silence) || text.isEmpty)
        }
        #expect(text == "Half a")
    }

    @Test(arguments: [
        ("<html>Sign in</html>", "text/html", "an HTML page"),
        (#"{"ok":true}"#, "application/json", #"{"ok":true}"#),
        ("\n<!DOCTYPE html><p>Sign in", "text/event-stream", "an HTML page"),
    ])
    func `fails when the answer is no stream`(body: String, type: String, detail: String) async throws {
        let scene = try Scene(await ProviderServer(.init(body, type: type)))
        #expect(try await scene.ask().failure == ReplyFailure(.malformed, status: 200, detail: detail))
    }

    @Test(arguments: ["application/json", "text/event-stream"])
    func `reads a reply that came as one object`(type: String) async throws {
        let body = """
            {"object":"chat.completion","choices":[{"index":0,"finish_reason":"length",
             "message":{"role":"assistant","content":"Hello\\nthere"}}],
             "usage":{"prompt_tokens":3,"completion_tokens":2}}
            """
        let events = try await Scene(await ProviderServer(.init(body, type: type))).ask()
        #expect(events.text == "Hello\nthere")
        #expect(events.finish?.reason == .maxTokens)
        #expect(events.contains(.usage(TokenUsage(input: 3, output: 2))))
    }

    @Test func `reaches no address that its rules do not name`() async throws {
        let server = try await ProviderServer(.init(Streams.chat))
        #expect(throws: FormError.self) { try Scene(server).call(allow: []) }
        // The name passes and its address does not.
        let scene = try Scene(server)
        let call = try scene.call(allow: ["10.0.0.0/8"], host: "localhost")
        var events: [ReplyEvent] = []
        try await call.ask(Scene.prompt) { events.append($0) }
        #expect(events.failure?.kind == .refusedAddress)
        #expect(events.failure?.retry == .never)
    }

    @Test func `reports that nobody listens`() async throws {
        let scene = try Scene(await ProviderServer(.init("")))
        let nobody = try RefusingPort()
        let asking = Task { try await scene.ask(at: nobody) }
        for _ in 0..<2 { scene.clock.advance(to: await scene.clock.nextSleeper()) }
        #expect(try await asking.value.failure?.kind == .network)
    }

    @Test func `reports that the connection was closed without an answer`() async throws {
        let scene = try Scene(await ProviderServer(.init("", then: .drop)))
        let asking = Task { try await scene.ask() }
        for _ in 0..<2 { scene.clock.advance(to: await scene.clock.nextSleeper()) }
        let failure = try #require(try await asking.value.failure)
        // It is there, and fails: one that is away is asked for a day, and each prompt may cost.
        #expect(failure.kind == .server && failure.retry == .soon)
    }

    @Test func `gives up a server that never answers, and leaves the next try to the scheduler`() async throws
    {
        let scene = try Scene(await ProviderServer(.init("", then: .mute), .init(Streams.chat)))
        let events = try await scene.ask(timeouts: .init(head: .milliseconds(100)))
        #expect(events.failure?.kind == .silent(.milliseconds(100)))
        #expect(events.failure?.retry == .soon)
    }

    @Test func `ends with its task, and with its connection`() async throws {
        let scene = try Scene(await ProviderServer(.init(": hi\n\n", then: .hang)))
        let asking = Task { try await scene.ask() }
        _ = try await scene.server.request()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(try await scene.server.line() == "left")
    }

    @Test func `fails with a reason when one object is a flood, and an endless page is a page`() async throws
    {
        let flood = String(repeating: "x", count: 1 << 16)
        let object = try Scene(
            await ProviderServer(.init(#"{"content":""# + flood, type: "application/json", repeating: 600)))
        let failure = try #require(try await object.ask().failure)
        #expect(failure.kind == .replyTooLong(limit: 32 << 20) && failure.retry == .never)
        let place = ReplyFailure.Place(bot: "sage", provider: "host")
        #expect(failure.sentence(at: place) == "sage: host sent a reply of more than 32 MiB")
        #expect(failure.hint(at: place) == "set bots.sage.maxTokens")
        let page = try Scene(await ProviderServer(.init("<p>" + flood, type: "text/html", repeating: 600)))
        #expect(try await page.ask().failure?.kind == .malformed)
    }

    @Test func `ends at thirty megabytes`() async throws {
        let text = String(repeating: "x", count: 1 << 16)
        let delta = #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"}}]}"# + "\n\n"
        let scene = try Scene(await ProviderServer(.init(delta, repeating: 600)))
        let events = try await scene.ask()
        #expect(events.text.utf8.count == 30 << 20)
        #expect(events.failure?.kind == .replyTooLong(limit: 30 << 20))
    }
}
