import Bots
import Curl
import Delivery
import Host
import Performing
import Prompting
import TestSupport
import Testing
import Timeline
import Tracking

/// Attempts to have a bot reply whose provider is a server of the test.
private struct PerformerScene {
    let folder: TemporaryFolder
    let performer: BotPerformer
    private let server: ProviderServer
    private let key = RunKey(run: UniqueID.v4(), attempt: 1)

    init(_ server: ProviderServer, _ dialect: BotBackend.Dialect = .openAI, key: String? = nil) throws {
        folder = try TemporaryFolder()
        self.server = server
        let reach = try HTTPReach(
            url: HTTPAddress(server.url(dialect == .openAI ? "/v1" : "")),
            allow: [AddressException("127.0.0.1/32")])
        let contact = BotInUse(
            BotBackend(dialect, reach: reach, model: "haiku"),
            secrets: FormSecrets(key.map { [BotInUse.key: [$0]] } ?? [:]))
        performer = try BotPerformer(
            curl: try CurlMulti(), clock: ManualClock(now: Moment(seconds: 1_793_000_000)),
            userAgent: "Belfry/test", find: { _ in contact })
    }

    /// All that is reported of an attempt, and how it ended.
    ///
    /// What is `older` is to be summarized first.
    func reply(older: OlderTalk? = nil) async throws -> (events: [PerformerEvent], end: ExitRecord) {
        var order = PromptOrder(key: key, bot: "sage", text: "Hi", output: .init(path: folder.file("log")))
        (order.older, order.summary) = (older, older == nil ? nil : "They drink tea.")
        performer.start(.prompt(order))
        var events: [PerformerEvent] = []
        while await performer.waitForEvents() {
            events += performer.takeEvents()
            if case .ended(let record)? = events.last { return (events, record) }
        }
        throw CancellationError()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an attempt to have a bot reply` {
    private func chat(_ delta: String, finish: String) -> String {
        "data: {\"choices\":[{\"index\":0,\"delta\":\(delta)}]}\n\n"
            + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"\(finish)\"}]}\n\n"
            + "data: [DONE]\n\n"
    }

    @Test func `fails with the bot's words when it declines`() async throws {
        let stream = chat(#"{"refusal":"I can't help."}"#, finish: "stop")
        let end = try await PerformerScene(await ProviderServer(.init(stream))).reply().end
        #expect(end.fault?.reason == .refused && end.fault?.mayPass == false && end.reply == nil)
        #expect(end.fault?.text == "sage: 127.0.0.1 declined to reply: I can't help.")
    }

    @Test(arguments: [
        ("length", "ended the reply at its largest size; raise bots.sage.maxTokens"),
        ("content_filter", "ended the reply because of its content filter"),
    ])
    func `keeps what was said when the provider ends it early`(word: String, sentence: String) async throws {
        let stream = chat(#"{"content":"Half a"}"#, finish: word)
        let end = try await PerformerScene(await ProviderServer(.init(stream))).reply().end
        #expect(end.fault?.reason == .truncated && end.fault?.mayPass == false)
        #expect(end.fault?.text == "sage: 127.0.0.1 \(sentence)")
        #expect(end.fault?.isOfReply == true)
        #expect(end.partialReply == "Half a" && end.reply == nil)
    }

    @Test func `hides the key that its provider repeats, wherever it is cut`() async throws {
        func piece(_ word: String) -> String {
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(word)"}}]}"# + "\n\n"
        }
        let stream = piece("Your key is sk-se") + piece("cret, I") + piece(" think")
        let scene = try PerformerScene(
            await ProviderServer(.init(stream + chat("{}", finish: "stop"))), key: "sk-secret")
        let end = try await scene.reply().end
        #expect(end.reply == "Your key is ***, I think")
        #expect(String(decoding: end.outputTail, as: UTF8.self) == end.reply)
        #expect(try SmallFile.text(scene.folder.file("log")) == end.reply)
    }

    @Test func `counts all of its words at the end`() async throws {
        func piece(_ word: String) -> String {
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(word) "}}]}"# + "\n\n"
        }
        let words = ["One", "two", "three", "four"].map { piece($0) }
        let stream = words.joined() + "data: [DONE]\n\n"
        let reply = try await PerformerScene(await ProviderServer(.init(stream))).reply()
        #expect(reply.end.reply == "One two three four ")
        let counts = reply.events.compactMap {
            if case .progress(_, let report) = $0 { report.message } else { nil }
        }
        #expect(counts.last == "4 words")
    }

    @Test func `is given up for good when Anthropic's model has no room`() async throws {
        let stream = Streams.messages.replacing("end_turn", with: "model_context_window_exceeded")
        let end = try await PerformerScene(await ProviderServer(.init(stream)), .anthropic).reply().end
        #expect(end.fault?.reason == .truncated && end.partialReply == "Hello")
    }

    private static let older = OlderTalk(
        [EarlierTurn(isOfBot: false, text: "Which tea?"), EarlierTurn(isOfBot: true, text: "Green.")],
        through: 7)

    /// The turns of the next request, as `user: text`.
    private func turns(_ server: ProviderServer) async throws -> [String] {
        let body = JSON(parsing: Array(try await server.request().body.utf8)[...])
        return (body?["messages"]?.elements ?? []).map {
            "\($0["role"]?.text ?? ""): \($0["content"]?.text ?? "")"
        }
    }

    @Test func `summarizes what it will no longer be shown, and counts what that used`() async throws {
        let usage = #"data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":7}}"# + "\n\n"
        let summary = chat(#"{"content":"<internal>so</internal>Green tea."}"#, finish: "stop")
            .replacing("data: [DONE]", with: usage + "data: [DONE]")
        let server = try await ProviderServer(
            .init(summary), .init(chat(#"{"content":"Hello"}"#, finish: "stop")))
        let (events, end) = try await PerformerScene(server).reply(older: Self.older)
        #expect(end.summary == TalkSummary("Green tea.", through: 7) && end.reply == "Hello", "\(end)")
        #expect(end.usage?.inputTokens == 30 && end.usage?.outputTokens == 7)
        let phases = events.compactMap { if case .progress(_, let report) = $0 { report.phase } else { nil } }
        #expect(phases.first == "summarizing what was said before", "\(phases)")
        let asked = try await turns(server)
        #expect(asked.count == 3 && asked[0].contains("They drink tea.") && asked[1] == "assistant: Green.")
        #expect(asked[0].hasSuffix("Which tea?") && asked[2].hasPrefix("user: [SUMMARY REQUEST - "))
        let then = try await turns(server)
        #expect(
            then.count == 1 && then[0].contains("\n\nGreen tea.\n\n") && then[0].hasSuffix("Hi"), "\(then)")
    }

    @Test func `goes on with the summary that it had where it declines to write another one`() async throws {
        let server = try await ProviderServer(
            .init(chat(#"{"refusal":"I can't help."}"#, finish: "stop")),
            .init(chat(#"{"content":"Hello"}"#, finish: "stop")))
        let end = try await PerformerScene(server).reply(older: Self.older).end
        #expect(end.summary == nil && end.reply == "Hello" && end.fault == nil, "\(end)")
        _ = try await server.request()
        #expect(try await turns(server).first?.contains("They drink tea.") == true)
    }

    @Test func `is tried again as a whole where no summary can be had now`() async throws {
        let server = try await ProviderServer(
            .init("{}", status: 429, type: "application/json", headers: ["Retry-After": "600"]))
        let end = try await PerformerScene(server).reply(older: Self.older).end
        #expect(end.fault?.reason == .rateLimited && end.fault?.mayPass == true, "\(end)")
        #expect(end.summary == nil && end.reply == nil)
    }
}
