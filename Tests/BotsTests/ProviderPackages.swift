import Bots
import Foundation
import Prompting
import TestSupport
import Testing
import Tracking

/// The providers' own Python packages as independent readers: what they make of a stream is what Belfry makes of it.
@Suite(.timeLimit(.minutes(5))) struct `a provider's own package` {
    /// What a package read.
    private struct Reading: Decodable, Equatable {
        struct Call: Decodable, Equatable {
            var id: String
            var name: String
            var arguments: [String: String]
        }

        var text: String?
        var calls: [Call]?
        var reason: String?
        var output: Int?
        var error: String?
    }

    private func read(_ package: String, _ url: String) async throws -> Reading {
        let process = try ChildProcess(
            PythonTools.interpreter(), [PythonTools.script("provider-reader.py"), package, url])
        var lines = process.lines.makeAsyncIterator()
        let line = await lines.next()
        return try JSONDecoder().decode(Reading.self, from: Data((line ?? "").utf8))
    }

    private func reading(_ events: [ReplyEvent]) -> Reading {
        var reading = Reading(text: events.text, calls: [])
        for event in events {
            switch event {
            case .toolCall(let call):
                let arguments = try? JSONDecoder().decode(
                    [String: String].self, from: Data(call.arguments.bytes))
                reading.calls?.append(.init(id: call.id, name: call.name, arguments: arguments ?? [:]))
            case .usage(let usage): reading.output = usage.output
            default: break
            }
        }
        return reading
    }

    private static let tool =
        [
            #"{"type":"message_start","message":{"id":"msg_fixB","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":412,"output_tokens":1}}}"#,
            #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            #"{"type":"ping"}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Scheduling that, café."}}"#,
            #"{"type":"content_block_stop","index":0}"#,
            #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_fix1","name":"schedule_task","input":{}}}"#,
            #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"prompt\": \"water pl"}}"#,
            #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ants\", \"cron\": \"0 9 * * *\"}"}}"#,
            #"{"type":"content_block_stop","index":1}"#,
            #"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":58}}"#,
            #"{"type":"message_stop"}"#,
        ].map { line in
            let type = line.dropFirst(9).prefix { $0 != "\"" }
            return "event: \(type)\ndata: \(line)\n\n"
        }.joined()

    @Test func `reads Anthropic's stream as Belfry does`() async throws {
        let server = try await ProviderServer(.init(Self.tool, piece: 9))
        var read = try await read("anthropic", server.url())
        #expect(read.reason == "tool_use")
        read.reason = nil
        #expect(read == reading(try await Scene(.anthropic, server).ask()))
        #expect(read.calls?.first?.arguments == ["prompt": "water plants", "cron": "0 9 * * *"])
    }

    private static let calls =
        [
            #"{"role":"assistant","content":"Well, café.","tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"notify","arguments":""}}]}"#,
            #"{"tool_calls":[{"index":0,"function":{"arguments":"{\"te"}}]}"#,
            #"{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list_tasks","arguments":"{}"}},{"index":0,"function":{"arguments":"xt\":\"hi\"}"}}]}"#,
        ].map {
            #"data: {"id":"c1","object":"chat.completion.chunk","created":1793000000,"model":"m","choices":[{"index":0,"delta":\#($0),"finish_reason":null}]}"#
                + "\n\n"
        }.joined()
        + #"data: {"id":"c1","object":"chat.completion.chunk","created":1793000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#
        + "\n\n"
        + #"data: {"id":"c1","object":"chat.completion.chunk","created":1793000000,"model":"m","choices":[],"usage":{"prompt_tokens":80,"completion_tokens":21,"total_tokens":101}}"#
        + "\n\ndata: [DONE]\n\n"

    @Test func `reads OpenAI's stream as Belfry does`() async throws {
        let server = try await ProviderServer(.init(Self.calls, piece: 9))
        var read = try await read("openai", server.url("/v1"))
        #expect(read.reason == "tool_calls")
        read.reason = nil
        #expect(read == reading(try await Scene(.openAI, server).ask()))
        #expect(read.calls?.map(\.name) == ["notify", "list_tasks"])
    }

    @Test func `refuses what fails or ends in the middle, as Belfry does`() async throws {
        let part = Self.tool.components(separatedBy: "event: content_block_stop").first ?? ""
        let overload =
            part + "event: error\n"
            + #"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"# + "\n\n"
        let busy = try await ProviderServer(.init(overload, piece: 9))
        #expect(try await read("anthropic", busy.url()).error != nil)
        #expect(try await Scene(.anthropic, busy).ask().failure?.word == "overloaded")
        let cut = try await ProviderServer(.init(part, piece: 9, then: .cut))
        #expect(try await read("anthropic", cut.url()).error != nil)
        #expect(try await Scene(.anthropic, cut).ask().failure?.word == "truncated")
        let chunks = Self.calls.components(separatedBy: "data: [DONE]").first ?? ""
        let first = (chunks.components(separatedBy: "\n\n").first ?? "") + "\n\n"
        let failing =
            first + #"data: {"error":{"message":"The server had an error","type":"server_error"}}"# + "\n\n"
        let broken = try await ProviderServer(.init(failing, piece: 9))
        #expect(try await read("openai", broken.url("/v1")).error == "APIError")
        #expect(try await Scene(.openAI, broken).ask().failure?.word == "server")
        let closed = try await ProviderServer(.init(first, piece: 9, then: .cut))
        #expect(try await read("openai", closed.url("/v1")).error != nil)
        #expect(try await Scene(.openAI, closed).ask().failure?.word == "truncated")
    }

    @Test(arguments: [
        (401, "AuthenticationError", "auth"), (404, "NotFoundError", "address"),
        (429, "RateLimitError", "rateLimited"),
        (400, "BadRequestError", "badRequest"),
    ])
    func `refuses the errors that Belfry refuses`(status: Int, error: String, word: String) async throws {
        let body = #"{"type":"error","error":{"type":"x","message":"y"}}"#
        let server = try await ProviderServer(
            .init(body, status: status, type: "application/json", headers: ["Retry-After": "600"]))
        #expect(try await read("anthropic", server.url()).error == error)
        #expect(try await read("openai", server.url("/v1")).error == error)
        #expect(try await Scene(.anthropic, server).ask().failure?.word == word)
        #expect(try await Scene(.openAI, server).ask().failure?.word == word)
    }
}
