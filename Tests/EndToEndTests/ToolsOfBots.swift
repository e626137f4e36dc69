import TestSupport
import Testing

/// Bots that call tools: a provider that is a server of the test, and MCP clients.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot with tools` {
    /// A reply that calls a tool with these arguments, which are JSON in a JSON text.
    private static func call(_ tool: String, _ arguments: String) -> String {
        let text = arguments.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return
            #"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"\#(tool)","arguments":"\#(text)"}}]}}]}"#
            + "\n\n" + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#
            + "\n\ndata: [DONE]\n\n"
    }

    private static let done =
        #"data: {"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}"#
        + "\n\ndata: [DONE]\n\n"

    private func config(_ server: ProviderServer, tools: String) -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            tools: [\(tools)]
        jobs:
          news: { schedule: manual, bot: sage, prompt: "What is new?" }
          ship: { schedule: manual, shell: "echo shipped" }
        """
    }

    private func result(_ request: ProviderServer.Request) throws -> String? {
        try JSON(request.body)["messages"].list.last?["content"].text
    }

    @Test func `sends a message while it works, which its run records`() async throws {
        let server = try await ProviderServer(
            .init(Self.call("send_message", #"{"text":"The tape is \"full\"","urgency":"low"}"#)),
            .init(Self.done))
        let belfry = try await Belfry.start(config(server, tools: "send_message"))
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let messages = try await belfry.json("messages", "sage").list
        #expect(messages.map { $0["text"].text } == ["Done.", "The tape is \"full\""])
        #expect(messages.map { $0["thread"].text } == ["news", "news"])
        _ = try await server.request()
        let sent = try result(try await server.request())
        #expect(sent == "sent as message \(messages.last?["id"].text ?? "")")
        let call = try #require(try await belfry.json("run", "show", "news#1")["calls"].list.first)
        #expect(call["tool"].text == "send_message" && call["isError"] == nil)
        #expect(call["arguments"].text == #"{"text":"The tape is \"full\"","urgency":"low"}"#)
        #expect(call["result"].text == sent)
        let text = try await belfry.run("run", "show", "news#1").text
        #expect(text.contains("tool      send_message {\"text\":"), "\(text)")
        #expect(try await belfry.run("bot", "show", "sage").text.contains("tools     send_message\n"))
    }

    @Test func `is refused what it may not call, and the person is notified once`() async throws {
        let server = try await ProviderServer(
            .init(Self.call("send_message", #"{"text":"x"}"#)), .init(Self.done),
            .init(Self.call("send_message", #"{"text":"x"}"#)), .init(Self.done))
        let belfry = try await Belfry.start(config(server, tools: "all_tasks"))
        for _ in 1...2 { #expect(try await belfry.run("run", "news", "--follow").code == 0) }
        _ = try await server.request()
        #expect(
            try result(try await server.request())
                == "send_message is not allowed to this bot. It has no tools.")
        let notices = try await belfry.json("messages", "belfry").list.filter {
            $0["thread"].text == "tools"
        }
        #expect(
            notices.map { $0["text"].text } == [
                "sage called the tool send_message, which bots.sage.tools does not allow. It was refused."
            ])
        let call = try #require(try await belfry.json("run", "show", "news#1")["calls"].list.first)
        #expect(call["isError"] == .bool(true))
    }

    @Test(arguments: [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
    func `serves them to the official MCP client`(mode: String, revision: String) async throws {
        let server = try await ProviderServer(.init(Self.done))
        let belfry = try await Belfry.start(config(server, tools: "send_message"))
        let python = try PythonTools.interpreter()
        let script = PythonTools.script("mcp-client.py")
        let answer = try await belfry.shell(
            "\(python) \(script) \(mode) $(command -v belfry) --socket \(belfry.socketPath) mcp --bot sage")
        #expect(answer.code == 0, "\(answer)")
        let json = try JSON(answer.text)
        #expect(json["revision"].text == revision)
        #expect(json["tools"].list.map(\.text) == ["send_message"])
        #expect(json["schema"]["required"].list.map(\.text) == ["text"])
        #expect(json["sent"]["isError"] == .bool(false) && json["progress"].list.count == 2, "\(json)")
        #expect(
            json["missing"]["isError"] == .bool(true) && json["missing"]["text"].text == "text: is missing")
        #expect(json["unknown"]["text"].text?.contains("Did you mean \"send_message\"?") == true)
        #expect(json["after"]["isError"] == .bool(false))
        let texts = try await belfry.json("messages", "sage").list.map { $0["text"].text }
        #expect(texts.first == "after" && texts.last == "from mcp")
    }
}
