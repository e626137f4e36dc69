import Testing
import Tracking

@testable import belfry

/// What clients send, and what is answered, without a daemon.
@Suite struct `a conversation with an MCP client` {
    private func answer(_ lines: String...) throws -> JSON? {
        var conversation = MCPConversation(instructions: "Tools.")
        var last: JSON?
        for line in lines {
            if case .answer(let json) = conversation.receive(line.utf8) { last = json } else { last = nil }
        }
        return last
    }

    private static let hello =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    @Test(arguments: ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    func `begins in the revision that the client knows`(revision: String) throws {
        let result = try answer(Self.hello.replacing("2025-06-18", with: revision))?["result"]
        #expect(result?["protocolVersion"]?.text == revision)
        #expect(result?["serverInfo"]?["name"]?.text == "belfry")
    }

    @Test func `begins in its own newest revision with a client of one that nobody knows`() throws {
        let result = try answer(Self.hello.replacing("2025-06-18", with: "1999-01-01"))?["result"]
        #expect(result?["protocolVersion"]?.text == "2025-11-25")
    }

    @Test(arguments: [
        ("garbage", -32700), ("{\"jsonrpc\":\"2.0\"", -32700), ("[]", -32600), ("5", -32600), ("{}", -32600),
        (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#, -32600),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}"#,
            -32602
        ),
        (
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            -32022
        ),
    ])
    func `answers what is no request with an error, and goes on`(line: String, code: Int) throws {
        #expect(try answer(line)?["error"]?["code"]?.int == code)
        #expect(try answer(line, Self.hello)?["result"] != nil)
    }

    @Test func `answers unknown methods and incomplete calls with errors`() throws {
        let unknown = #"{"jsonrpc":"2.0","id":"a","method":"resources/list"}"#
        #expect(try answer(Self.hello, unknown)?["error"]?["code"]?.int == -32601)
        #expect(try answer(Self.hello, unknown)?["id"]?.text == "a")
        let call = #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{}}}"#
        #expect(try answer(Self.hello, call)?["error"]?["code"]?.int == -32602)
        #expect(try answer(Self.hello, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) == nil)
        #expect(try answer(Self.hello, #"{"jsonrpc":"2.0","id":9,"result":{}}"#) == nil)
    }

    @Test func `stays in the era of its first request`() throws {
        let discover = #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{\#(Self.meta)}}"#
        let found = try answer(discover)?["result"]
        #expect(found?["supportedVersions"] == .array([.string("2026-07-28")]))
        #expect(found?["resultType"]?.text == "complete")
        let late = try answer(discover, Self.hello)?["error"]
        #expect(late?["code"]?.int == -32022)
        #expect(late?["data"]?["supported"] == .array([.string("2026-07-28")]))
        #expect(try answer(Self.hello, discover)?["error"]?["code"]?.int == -32601)
    }

    @Test func `asks for calls, their progress and their cancellation`() {
        var conversation = MCPConversation(instructions: "Tools.")
        _ = conversation.receive(Self.hello.utf8)
        let call =
            #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p"}}}"#
        let request = MCPConversation.Request(id: .int(2), isModern: false, progress: .string("p"))
        #expect(conversation.receive(call.utf8) == .call(request, tool: "x", arguments: .members([])))
        let params = MCPConversation.progress(1, "done", of: request)?["params"]
        #expect(params?["progressToken"]?.text == "p" && params?["progress"]?.int == 1)
        let cancel = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
        #expect(conversation.receive(cancel.utf8) == .cancel(.int(2)))
        let answer = MCPConversation.answer("no", isError: true, to: request)["result"]
        #expect(answer?["isError"] == .bool(true) && answer?["resultType"] == nil)
    }
}
