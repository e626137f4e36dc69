import Prompting
import Testing
import Tracking

@Suite struct `a reply of Anthropic's API` {
    private func replies(_ bytes: [UInt8], ends: Bool = true) -> [ReplyEvent] {
        PromptingTests.replies(AnthropicDecoder(model: "m"), bytes, ends: ends)
    }

    private func replies(_ lines: String...) -> [ReplyEvent] {
        replies(AnthropicStreams.wire([AnthropicStreams.start] + lines))
    }

    @Test func `starts, says its text, counts its tokens and ends`() {
        let events = replies(AnthropicStreams.text)
        #expect(events.first == .started(nil))
        #expect(events.text == "Café opens at 9.")
        #expect(events.usage == TokenUsage(input: 412, cacheWrite: 7, cacheRead: 3, output: 9))
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "Café opens at 9.")))
    }

    @Test func `starts once, however often its provider says so`() {
        let events = replies(AnthropicStreams.wire([AnthropicStreams.start, AnthropicStreams.start]))
        #expect(events.filter { $0 == .started(nil) }.count == 1)
    }

    @Test func `has its tool calls put together from their pieces`() {
        let events = replies(AnthropicStreams.tool)
        let call = ToolCall(
            id: "toolu_fix1", name: "schedule_task",
            arguments: .object(["prompt": .string("water plants"), "cron": .string("0 9 * * *")]))
        #expect(events.contains(.calling("schedule_task")))
        #expect(events.calls == [call])
        #expect(
            events.finish
                == Finish(
                    .toolCalls, turn: SpokenTurn(.assistant, [.text("Scheduling that."), .toolCall(call)])))
    }

    @Test func `calls a tool without arguments with an empty object`() {
        let events = replies(
            #"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"list","input":{}}}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            #"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#,
            #"{"type":"message_stop"}"#)
        #expect(events.calls == [ToolCall(id: "t", name: "list", arguments: .members([]))])
    }

    @Test func `keeps its thinking as the provider wants it back`() {
        let events = replies(AnthropicStreams.thinking)
        #expect(events.thinking == "Check the zone first.")
        let thought: JSON = .object([
            "type": .string("thinking"), "thinking": .string("Check the zone first."),
            "signature": .string("c2lnLWZpeHR1cmU="),
        ])
        let sealed: JSON = .object(["type": .string("redacted_thinking"), "data": .string("c2VhbGVk")])
        #expect(
            events.finish?.turn.parts == [
                .opaque(provider: "anthropic", thought), .opaque(provider: "anthropic", sealed),
                .text("It is noon."),
            ])
    }

    @Test func `may be a refusal, with its explanation`() {
        #expect(replies(AnthropicStreams.refusal).finish?.reason == .refusal("declined"))
    }

    @Test func `leaves out a tool call that its size cut off`() {
        let events = replies(AnthropicStreams.cutTool)
        #expect(events.calls.isEmpty)
        #expect(events.finish == Finish(.maxTokens, turn: SpokenTurn(.assistant, "Writing.")))
    }

    @Test(arguments: [
        ("stop_sequence", Finish.Reason.end), ("pause_turn", .pause),
        ("model_context_window_exceeded", .contextFull), ("something_new", .other("something_new")),
    ])
    func `ends for the reason it is given`(word: String, reason: Finish.Reason) {
        let events = replies(
            #"{"type":"message_delta","delta":{"stop_reason":"\#(word)"},"usage":{}}"#,
            #"{"type":"message_stop"}"#)
        #expect(events.finish?.reason == reason)
    }

    @Test func `fails as its provider says in the middle of it, and keeps what it said`() {
        let events = replies(AnthropicStreams.overload)
        #expect(events.text == "So")
        #expect(
            events.failure == ReplyFailure(.overloaded(after: nil), detail: "Overloaded", hasOutput: true))
        #expect(events.failure?.retry == .never)
    }

    @Test(arguments: [
        ("authentication_error", "auth"), ("rate_limit_error", "rateLimited"), ("api_error", "server"),
        ("invalid_request_error", "badRequest"), ("billing_error", "budget"),
        ("request_too_large", "promptTooLong"), ("brand_new_error", "server"),
    ])
    func `has a kind of failure for each type of error`(type: String, word: String) {
        let events = replies(#"{"type":"error","error":{"type":"\#(type)","message":"x"}}"#)
        #expect(events.failure?.word == word)
    }

    @Test func `was cut off when the stream ends before it does`() {
        for count in 1..<AnthropicStreams.text.count {
            let events = replies(Array(AnthropicStreams.text.prefix(count)))
            #expect(events.failure?.kind == .truncated, "after \(count) bytes")
        }
    }

    @Test func `ignores events, blocks and deltas that it does not know`() {
        let events = replies(
            #"{"type":"brand_new","x":[1]}"#,
            #"{"type":"content_block_start","index":0,"content_block":{"type":"hologram","z":1}}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"z_delta","z":2}}"#,
            #"{"type":"content_block_stop","index":0}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"z_delta","z":3}}"#,
            #"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            #"{"type":"message_stop"}"#)
        #expect(events.finish?.reason == .end)
    }

    @Test(arguments: [
        "[1", #"{"type":"message_start"}"#, #"{"type":"content_block_start","index":"0","content_block":{}}"#,
        #"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"x"}}"#,
        #"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":5,"name":"x"}}"#,
    ])
    func `fails when an event has not the promised form`(line: String) {
        let events = replies(Array("event: content_block_delta\ndata: \(line)\n\n".utf8))
        #expect(events.failure?.kind == .malformed)
        #expect(events.failure?.retry == .never)
    }

    @Test func `fails when a text is not one, and says where`() {
        let events = replies(
            #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}"#)
        #expect(
            events.failure?.detail == "text is missing or has the wrong type in content_block_delta")
    }

    @Test func `fails when the arguments of a tool are not JSON`() {
        let events = replies(
            #"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"list","input":{}}}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{oops"}}"#,
            #"{"type":"content_block_stop","index":0}"#,
            #"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#,
            #"{"type":"message_stop"}"#)
        #expect(events.failure?.detail == "the arguments of the call of list are not JSON")
    }

    @Test func `ends at thirty megabytes and keeps them`() {
        var decoder = AnthropicDecoder(model: "m")
        let piece = String(repeating: "0123456789abcdef", count: 1 << 16)
        var size = 0
        var failure: ReplyFailure?
        func note(_ event: ReplyEvent) {
            if case .text(let text) = event { size += text.utf8.count }
            if case .failed(let last) = event { failure = last }
        }
        let head = AnthropicStreams.wire([
            AnthropicStreams.start,
            #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"€"}}"#,
        ])
        decoder.receive(head[...], note)
        let delta = AnthropicStreams.wire([
            #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\#(piece)"}}"#
        ])
        for _ in 0..<40 where failure == nil { decoder.receive(delta[...], note) }
        #expect(size == 30 << 20)
        #expect(failure == ReplyFailure(.replyTooLong(limit: 30 << 20), hasOutput: true))
    }
}
