import Bots
import Curl
import Delivery
import Host
import Performing
import Prompting
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking

/// The calls that a tool was sent.
private final class CallBox: Sendable {
    let calls = Mutex<[ToolCall]>([])
    /// A value for each call.
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    /// What lets a call go on, where calls wait for that: a value for each.
    let (permits, permitted) = AsyncStream.makeStream(of: Void.self)
    /// Whether a call that would not have ended was ended.
    let wasEnded = Mutex(false)
}

/// Attempts of a bot that may call a tool, with a provider that is a server of the test.
private final class LoopScene: Sendable {
    let folder: TemporaryFolder
    let performer: BotPerformer
    let box = CallBox()
    private let timeout: Duration?
    private let key = RunKey(run: "0194d1c2-0000-7000-8000-000000000001", attempt: 1)

    init(
        _ server: ProviderServer, _ dialect: BotBackend.Dialect, maxTurns: Int = 20,
        clock: any WallClock = ManualClock(now: Moment(seconds: 1_793_000_000)),
        in home: TemporaryFolder? = nil, isRepeatable: Bool = false, isStopping: Bool = false,
        model: String = "haiku", timeout: Duration? = nil, isEndless: Bool = false, isHeld: Bool = false
    ) throws {
        self.timeout = timeout
        folder = try home ?? TemporaryFolder()
        let reach = try HTTPReach(
            url: HTTPAddress(server.url(dialect == .openAI ? "/v1" : "")),
            allow: [AddressException("127.0.0.1/32")])
        var backend = BotBackend(dialect, reach: reach, model: model)
        backend.price = TokenPrice(input: 1, output: 1)
        var contact = BotInUse(backend)
        (contact.tools, contact.maxTurns) = (["say"], maxTurns)
        let bot = contact
        let box = box
        let tools = BotTools(
            offered: { _ in
                [Tool(name: "say", about: "Says it.", arguments: .object(["type": .string("object")]))]
            },
            perform: { call, _, _ in
                box.calls.withLock { $0.append(call) }
                box.arrived.yield()
                if isHeld { for await _ in box.permits { break } }
                if isEndless {
                    let (never, _) = AsyncStream.makeStream(of: Never.self)
                    for await _ in never {}
                    box.wasEnded.withLock { $0 = true }
                    return ToolAnswer("ended", isError: true)
                }
                if isStopping {
                    var answer = ToolAnswer("the daemon stops", isError: true)
                    answer.isInterrupted = true
                    return answer
                }
                let text = call.arguments["text"]?.text
                return text.map { ToolAnswer("said \($0)") } ?? ToolAnswer("text: is missing", isError: true)
            }, isRepeatable: { _ in isRepeatable })
        performer = try BotPerformer(
            curl: try CurlMulti(), clock: clock, userAgent: "Belfry/test", tools: tools,
            folder: folder.file("loops"), find: { _ in bot })
    }

    /// Orders the reply, and returns when its first call has come.
    func begin(older: OlderTalk? = nil) async {
        order(older)
        for await _ in box.arrivals { return }
    }

    private func order(_ older: OlderTalk? = nil) {
        var order = PromptOrder(
            key: key, bot: "sage", text: "Hi", timeout: timeout, output: .init(path: folder.file("log")))
        order.older = older
        performer.start(.prompt(order))
    }

    /// Orders the reply, and lets its calls go on once it was reported that the tool is called: a later report takes the
    /// place of one that nobody has read.
    func replyThroughTool() async throws -> ExitRecord {
        order()
        var phases: [String?] = []
        while !phases.contains("tool say") {
            guard await performer.waitForEvents() else { throw CancellationError() }
            for event in performer.takeEvents() {
                if case .ended(let record) = event { return record }
                if case .progress(_, let report) = event { phases.append(report.phase) }
            }
        }
        for _ in 0..<9 { box.permitted.yield() }
        return try await end().end
    }

    func reply() async throws -> (events: [PerformerEvent], end: ExitRecord) {
        order()
        return try await end()
    }

    /// What is reported after the next daemon has connected.
    func goOn() async throws -> (events: [PerformerEvent], end: ExitRecord) {
        #expect(performer.holds(key))
        _ = try await performer.connect()
        return try await end()
    }

    func end() async throws -> (events: [PerformerEvent], end: ExitRecord) {
        var events: [PerformerEvent] = []
        while await performer.waitForEvents() {
            events += performer.takeEvents()
            if case .ended(let record)? = events.last { return (events, record) }
        }
        throw CancellationError()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a bot that calls tools` {
    private static let messages =
        #"data: {"type":"message_start","message":{"usage":{"input_tokens":30}}}"# + "\n\n"
        + #"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm.","signature":"s1"}}"#
        + "\n\n"
        + #"data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Wait."}}"#
        + "\n\n"
        + #"data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"say","input":{}}}"#
        + "\n\n"
        + #"data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"text\":\"yes\"}"}}"#
        + "\n\n"
        + #"data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"say","input":{}}}"#
        + "\n\n"
        + #"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#
        + "\n\n" + #"data: {"type":"message_stop"}"# + "\n\n"

    private static let chat =
        #"data: {"choices":[{"index":0,"delta":{"content":"Wait.","tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"say","arguments":"{\"text\":\"yes\"}"}},{"index":1,"id":"t2","type":"function","function":{"name":"say","arguments":""}}]}}]}"#
        + "\n\n"
        + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"# + "\n\n"
        + #"data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":7}}"# + "\n\n"
        + "data: [DONE]\n\n"

    private func results(_ dialect: BotBackend.Dialect, _ body: JSON) -> [JSON] {
        let messages = body["messages"]?.elements ?? []
        switch dialect {
        case .anthropic: return messages.last?["content"]?.elements ?? []
        case .openAI: return Array(messages.suffix(2))
        }
    }

    @Test(arguments: [BotBackend.Dialect.anthropic, .openAI])
    func `is shown their results, and replies further`(dialect: BotBackend.Dialect) async throws {
        let (first, last) =
            dialect == .anthropic ? (Self.messages, Streams.messages) : (Self.chat, Streams.chat)
        let server = try await ProviderServer(.init(first, piece: 9), .init(last))
        let scene = try LoopScene(server, dialect, isHeld: true)
        let end = try await scene.replyThroughTool()
        let word = dialect == .anthropic ? "Hello" : "Hello there"
        #expect(end.reply == "Wait.\n\n\(word)" && end.fault == nil, "\(end)")
        #expect(scene.box.calls.withLock { $0.map(\.id) } == ["1-0", "1-1"])
        let offer = try #require(JSON(parsing: Array(try await server.request().body.utf8)[...]))
        #expect(offer["tools"]?.elements.count == 1)
        let body = try #require(JSON(parsing: Array(try await server.request().body.utf8)[...]))
        let results = results(dialect, body)
        #expect(results.count == 2, "\(results)")
        let id = dialect == .anthropic ? "tool_use_id" : "tool_call_id"
        #expect(results.map { $0[id]?.text } == ["t1", "t2"])
        #expect(results.map { $0["content"]?.text } == ["said yes", "text: is missing"])
        guard dialect == .anthropic else { return }
        #expect(results.last?["is_error"] == .bool(true))
        // What the provider wants back comes back as it was.
        let turns = body["messages"]?.elements ?? []
        let asked = turns.dropLast().last?["content"]?.elements ?? []
        #expect(asked.first?["signature"]?.text == "s1" && asked.count == 4, "\(asked)")
        #expect(end.usage?.inputTokens == 33 && end.usage?.outputTokens == 9)
    }

    @Test func `fails with what it said when it calls tools in its last turn, too`() async throws {
        let server = try await ProviderServer(.init(Self.chat))
        let scene = try LoopScene(server, .openAI, maxTurns: 3)
        let end = try await scene.reply().end
        #expect(end.fault?.reason == .truncated && end.fault?.mayPass == false)
        #expect(
            end.fault?.text
                == "sage: 127.0.0.1 still called tools in the last turn it may take; raise bots.sage.maxTurns"
        )
        #expect(end.partialReply == "Wait.\n\nWait.\n\nWait.")
        #expect(scene.box.calls.withLock { $0.count } == 4)
        #expect(end.usage?.outputTokens == 21)
    }

    @Test func `is not asked again when the provider fails after a call`() async throws {
        let silent = Self.chat.replacing(#""content":"Wait.","#, with: "")
        let server = try await ProviderServer(
            .init(silent), .init("{}", status: 529, type: "application/json"))
        let end = try await LoopScene(server, .openAI, clock: SteadyClock()).reply().end
        // Another attempt would call the tool again.
        #expect(end.fault?.reason == .overloaded && end.fault?.mayPass == false, "\(end)")
    }

    @Test(arguments: [true, false])
    func `goes on after the daemon ended in a call`(isRepeatable: Bool) async throws {
        let server = try await ProviderServer(.init(Self.messages), .init(Streams.messages))
        let first = try LoopScene(server, .anthropic, isRepeatable: isRepeatable, isStopping: true)
        await first.begin()
        let next = try LoopScene(server, .anthropic, in: first.folder, isRepeatable: isRepeatable)
        let end = try await next.goOn().end
        #expect(end.reply == "Wait.\n\nHello" && end.fault == nil, "\(end)")
        #expect(end.usage?.inputTokens == 33 && end.usage?.outputTokens == 9)
        // A call that is perhaps done is made again only where that does nothing twice.
        #expect(next.box.calls.withLock { $0.map(\.id) } == (isRepeatable ? ["1-0", "1-1"] : ["1-1"]))
        _ = try await server.request()
        let body = try #require(JSON(parsing: Array(try await server.request().body.utf8)[...]))
        let answers = results(.anthropic, body).map { $0["content"]?.text ?? "" }
        #expect(answers.last == "text: is missing")
        let known = answers.first == "said yes"
        #expect(known == isRepeatable && (known || answers.first?.contains("not known whether") == true))
        let asked = (body["messages"]?.elements ?? []).dropLast().last?["content"]?.elements ?? []
        #expect(asked.first?["signature"]?.text == "s1" && asked.count == 4, "\(asked)")
    }

    @Test func `shows another model nothing that only the first one can read`() async throws {
        let server = try await ProviderServer(.init(Self.messages), .init(Streams.messages))
        let first = try LoopScene(server, .anthropic, isStopping: true)
        await first.begin()
        let next = try LoopScene(server, .anthropic, in: first.folder, model: "opus")
        let end = try await next.goOn().end
        #expect(end.reply == "Wait.\n\nHello" && end.fault == nil, "\(end)")
        _ = try await server.request()
        let body = try #require(JSON(parsing: Array(try await server.request().body.utf8)[...]))
        #expect(body["model"]?.text == "opus")
        let asked = (body["messages"]?.elements ?? []).dropLast().last?["content"]?.elements ?? []
        // All but the thinking.
        #expect(asked.map { $0["type"]?.text } == ["text", "tool_use", "tool_use"], "\(asked)")
    }

    @Test func `ends with a call that has not ended when the time of its job is over`() async throws {
        let server = try await ProviderServer(.init(Self.messages))
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try LoopScene(
            server, .anthropic, clock: clock, timeout: .seconds(900), isEndless: true)
        await scene.begin()
        #expect(await clock.nextSleeper() == clock.now + .seconds(900))
        clock.advance(by: .seconds(900))
        let end = try await scene.end().end
        #expect(end.cause == .timeout && end.fault?.reason == .timeout && end.fault?.mayPass == false)
        #expect(end.fault?.text == "sage: the tool say had not ended when the time of its job was over")
        #expect(end.partialReply == "Wait." && scene.box.wasEnded.withLock { $0 })
        #expect(scene.box.calls.withLock { $0.count } == 1)
    }

    @Test func `makes no second summary after the daemon ended in a call`() async throws {
        let server = try await ProviderServer(
            .init(Streams.messages), .init(Self.messages), .init(Streams.messages))
        let first = try LoopScene(server, .anthropic, isStopping: true)
        await first.begin(older: OlderTalk([EarlierTurn(isOfBot: false, text: "Tea?")], through: 3))
        let next = try LoopScene(server, .anthropic, in: first.folder)
        let end = try await next.goOn().end
        #expect(end.reply == "Wait.\n\nHello" && end.summary == TalkSummary("Hello", through: 3), "\(end)")
        for part in ["[SUMMARY REQUEST - ", "[SUMMARY OF ", "[SUMMARY OF "] {
            #expect(try await server.request().body.contains(part))
        }
    }

    private static func stream(_ lines: String...) -> String {
        let start =
            #"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"haiku","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":30,"output_tokens":1}}}"#
        return ([start] + lines + [#"{"type":"message_stop"}"#]).map { line in
            "event: \(line.dropFirst(9).prefix { $0 != "\"" })\ndata: \(line)\n\n"
        }.joined()
    }

    private static let asking = stream(
        #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Wait."}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"say","input":{}}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"text\":"}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"yes\"}"}}"#,
        #"{"type":"content_block_stop","index":1}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}}"#
    )

    private static let ending = stream(
        #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}"#
    )

    /// What the messages of a request say, in a form in which both ways to write a text are the same.
    private func said(_ server: ProviderServer) async throws -> [String] {
        let body = JSON(parsing: Array(try await server.request().body.utf8)[...])
        return (body?["messages"]?.elements ?? []).map { message in
            let content = message["content"] ?? .null
            let blocks =
                content.text.map { ["text: \($0)"] }
                ?? content.elements.map { block in
                    let parts = [
                        block["id"]?.text, block["tool_use_id"]?.text, block["name"]?.text,
                        block["input"].map { "\($0["text"]?.text ?? "")" }, block["text"]?.text,
                        block["content"]?.text,
                    ]
                    return "\(block["type"]?.text ?? ""): " + parts.compactMap(\.self).joined(separator: " ")
                }
            return "\(message["role"]?.text ?? "") " + blocks.joined(separator: ", ")
        }
    }

    @Test func `sends what the provider's own package sends that drives such a loop`() async throws {
        let theirs = try await ProviderServer(.init(Self.asking, piece: 9), .init(Self.ending))
        let process = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script("provider-reader.py"), "anthropic-tools", theirs.url()])
        var lines = process.lines.makeAsyncIterator()
        let line = await lines.next() ?? ""
        let read = try #require(JSON(parsing: Array(line.utf8)[...]))
        let ours = try await ProviderServer(.init(Self.asking, piece: 9), .init(Self.ending))
        let scene = try LoopScene(ours, .anthropic)
        let end = try await scene.reply().end
        #expect(end.reply == read["text"]?.text && end.reply == "Wait.\n\nDone.", "\(line)")
        #expect(read["calls"]?.elements.map { $0["arguments"]?["text"]?.text } == ["yes"])
        #expect(scene.box.calls.withLock { $0.map { $0.arguments["text"]?.text } } == ["yes"])
        for _ in 1...2 { #expect(try await said(ours) == said(theirs)) }
        #expect(read["reason"]?.text == "end_turn")
    }

    /// A reply of one turn that calls the tool so often.
    private static func many(_ count: Int, _ dialect: BotBackend.Dialect) -> String {
        switch dialect {
        case .openAI:
            let calls = (0..<count).map {
                #"{"index":\#($0),"id":"c\#($0)","type":"function","function":{"name":"say","arguments":"{}"}}"#
            }
            return
                #"data: {"choices":[{"index":0,"delta":{"tool_calls":[\#(calls.joined(separator: ","))]}}]}"#
                + "\n\ndata: [DONE]\n\n"
        case .anthropic:
            let blocks = (0..<count).map {
                #"{"type":"content_block_start","index":\#($0),"content_block":{"type":"tool_use","id":"c\#($0)","name":"say","input":{}}}"#
            }
            let lines =
                [#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#] + blocks + [
                    #"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#,
                    #"{"type":"message_stop"}"#,
                ]
            return lines.map { "data: \($0)\n\n" }.joined()
        }
    }

    @Test(arguments: [BotBackend.Dialect.anthropic, .openAI])
    func `has each of a thousand calls answered, and few of them performed`(
        dialect: BotBackend.Dialect
    ) async throws {
        let last = dialect == .openAI ? Streams.chat : Streams.messages
        let server = try await ProviderServer(.init(Self.many(1000, dialect)), .init(last))
        let scene = try LoopScene(server, dialect)
        let end = try await scene.reply().end
        #expect(end.reply?.hasPrefix("Hello") == true && end.fault == nil, "\(end)")
        #expect(scene.box.calls.withLock { $0.count } == 32)
        _ = try await server.request()
        let body = try #require(JSON(parsing: Array(try await server.request().body.utf8)[...]))
        let messages = body["messages"]?.elements ?? []
        let results =
            dialect == .openAI
            ? messages.filter { $0["role"]?.text == "tool" } : messages.last?["content"]?.elements ?? []
        #expect(results.count == 1000)
        #expect(results[31]["content"]?.text == "text: is missing")
        #expect(results.last?["content"]?.text?.hasPrefix("not performed: at most 32 calls") == true)
    }
}
