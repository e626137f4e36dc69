import Prompting
import Testing
import Tracking

@Suite struct `a reply of an OpenAI-compatible server` {
    private func replies(_ bytes: [UInt8]) -> [ReplyEvent] {
        PromptingTests.replies(ChatDecoder(model: "m"), bytes)
    }

    private func replies(_ chunks: String...) -> [ReplyEvent] { replies(ChatStreams.wire(chunks)) }

    @Test func `starts, says its text, counts its tokens and ends`() {
        let events = replies(ChatStreams.text)
        #expect(events.first == .started(nil))
        #expect(events.text == "Café 🏳️‍🌈.")
        #expect(events.usage == TokenUsage(input: 64, cacheRead: 16, output: 21))
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "Café 🏳️‍🌈.")))
    }

    @Test func `has its tool calls merged by their index`() {
        let events = replies(ChatStreams.tools)
        let notify = ToolCall(id: "call_a", name: "notify", arguments: .object(["text": .string("hi")]))
        let list = ToolCall(id: "call_b", name: "list_tasks", arguments: .members([]))
        #expect(events.contains(.calling("notify")))
        #expect(events.calls == [notify, list])
        #expect(
            events.finish
                == Finish(.toolCalls, turn: SpokenTurn(.assistant, [.toolCall(notify), .toolCall(list)])))
    }

    @Test func `of Ollama has its reasoning and whole calls`() {
        let events = replies(ChatStreams.ollama)
        #expect(events.thinking == "The user wants the time.")
        #expect(
            events.calls == [
                ToolCall(id: "call_x1", name: "clock", arguments: .object(["zone": .string("UTC")]))
            ])
        #expect(events.finish?.reason == .toolCalls)
        #expect(events.usage == nil)
    }

    @Test func `may leave out the index, repeat the id, or send arguments as an object`() {
        let events = replies(
            ChatStreams.chunk(
                #"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":{"x":1}}}]}"#),
            ChatStreams.chunk(#"{"tool_calls":[{"id":"b","function":{"name":"two","arguments":"{\"y\""}}]}"#),
            ChatStreams.chunk(#"{"tool_calls":[{"id":"b","function":{"arguments":":2}"}}]}"#),
            ChatStreams.chunk(#"{"tool_calls":[{"function":{"arguments":" "}}]}"#),
            ChatStreams.chunk("{}", finish: #""stop""#), "[DONE]")
        #expect(
            events.calls == [
                ToolCall(id: "a", name: "one", arguments: .object(["x": .int(1)])),
                ToolCall(id: "b", name: "two", arguments: .object(["y": .int(2)])),
            ])
        #expect(events.finish?.reason == .toolCalls)
    }

    @Test func `gives an id to a call that has none`() {
        let events = replies(
            ChatStreams.chunk(#"{"tool_calls":[{"index":0,"function":{"name":"one","arguments":""}}]}"#),
            ChatStreams.chunk("{}", finish: #""tool_calls""#), "[DONE]")
        #expect(events.calls == [ToolCall(id: "call_0", name: "one", arguments: .members([]))])
    }

    @Test(arguments: [
        ("length", Finish.Reason.maxTokens), ("content_filter", .filtered), ("stop", .end),
        ("eos", .other("eos")),
    ])
    func `ends for the reason it is given`(word: String, reason: Finish.Reason) {
        let events = replies(
            ChatStreams.chunk(#"{"content":"x"}"#), ChatStreams.chunk("{}", finish: #""\#(word)""#), "[DONE]")
        #expect(events.finish == Finish(reason, turn: SpokenTurn(.assistant, "x")))
    }

    @Test func `may be a refusal in words`() {
        let events = replies(
            ChatStreams.chunk(#"{"refusal":"I can't "}"#), ChatStreams.chunk(#"{"refusal":"help."}"#),
            ChatStreams.chunk("{}", finish: #""stop""#), "[DONE]")
        #expect(events.finish?.reason == .refusal("I can't help."))
        let filtered = replies(ChatStreams.chunk("{}", finish: #""content_filter""#), "[DONE]")
        #expect(filtered.finish?.reason == .refusal(nil))
    }

    @Test func `is complete after its reason though the server sends no [DONE]`() {
        let events = replies(
            ChatStreams.chunk(#"{"content":"x"}"#), ChatStreams.chunk("{}", finish: #""stop""#))
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "x")))
    }

    @Test func `is complete with [DONE] though the server gives no reason, unless it is empty`() {
        #expect(replies(ChatStreams.chunk(#"{"content":"x"}"#), "[DONE]").finish?.reason == .end)
        #expect(replies(ChatStreams.chunk("{}"), "[DONE]").failure?.kind == .truncated)
    }

    @Test func `was cut off when the stream ends before both`() {
        let events = replies(ChatStreams.chunk(#"{"content":"half a"}"#))
        #expect(events.failure == ReplyFailure(.truncated, hasOutput: true))
        #expect(replies([UInt8]()).failure == ReplyFailure(.truncated))
    }

    @Test func `leaves out a tool call that its size cut off`() {
        let events = replies(
            ChatStreams.chunk(
                #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x"}}]}"#),
            ChatStreams.chunk("{}", finish: #""length""#), "[DONE]")
        #expect(events.calls.isEmpty)
        #expect(events.finish?.reason == .maxTokens)
    }

    @Test func `fails as its server says in the middle of it, and keeps what it said`() {
        let events = replies(ChatStreams.failing)
        #expect(events.text == "So")
        #expect(
            events.failure == ReplyFailure(.server, detail: "The server had an error", hasOutput: true))
    }

    @Test(arguments: [
        (#"{"message":"x","code":"insufficient_quota"}"#, "budget"),
        (#"{"message":"x","code":429}"#, "rateLimited"),
        (#"{"message":"x","code":"model_not_found"}"#, "model"), (#""model requires more memory""#, "server"),
        (#"{"message":"x","code":502}"#, "server"),
        (#"{"message":"x","code":"context_length_exceeded"}"#, "promptTooLong"),
    ])
    func `has a kind of failure for each error`(error: String, word: String) {
        #expect(replies(#"{"error":\#(error)}"#).failure?.word == word)
    }

    @Test(arguments: [
        "<html>", "[]", #"{"choices":{}}"#, #"{"choices":[{"delta":"x"}]}"#,
        #"{"choices":[{"delta":{"content":[1]}}]}"#, #"{"choices":[{"delta":{},"finish_reason":7}]}"#,
        #"{"choices":[{"delta":{"tool_calls":["x"]}}]}"#,
        #"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":7}}]}}]}"#,
    ])
    func `fails when a chunk has not the promised form`(chunk: String) {
        #expect(replies(chunk).failure?.kind == .malformed)
    }

    @Test func `fails when the arguments of a tool are not a JSON object`() {
        let events = replies(
            ChatStreams.chunk(
                #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"[1]"}}]}"#),
            ChatStreams.chunk("{}", finish: #""tool_calls""#), "[DONE]")
        #expect(events.failure?.detail == "the arguments of the call of one are not a JSON object")
    }
}
