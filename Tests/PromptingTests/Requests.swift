import Prompting
import Testing
import Tracking

@Suite struct `a request` {
    private static let call = ToolCall(id: "t1", name: "clock", arguments: .object(["zone": .string("UTC")]))
    private static let thought: JSON = .object(["type": .string("thinking"), "signature": .string("s")])
    private static let prompt = Prompt(
        model: "m", system: "You are sage.",
        turns: [
            SpokenTurn(.user, "Hi \"you\"\n"),
            SpokenTurn(
                .assistant,
                [
                    .opaque(provider: "anthropic", thought), .opaque(provider: "other", .null), .text("Well"),
                    .toolCall(call),
                ]),
            SpokenTurn(.user, [.text("and now?"), .toolResult(id: "t1", text: "12:00", isError: false)]),
        ],
        maxTokens: 1024,
        tools: [Tool(name: "clock", about: "The time.", arguments: .object(["type": .string("object")]))])

    private func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }

    @Test func `for Anthropic returns thinking as it came and the results of tools first`() {
        #expect(
            text(AnthropicRequest.body(Self.prompt))
                == #"{"model":"m","max_tokens":1024,"stream":true,"system":"You are sage.","#
                + #""tools":[{"name":"clock","description":"The time.","input_schema":{"type":"object"}}],"#
                + #""messages":[{"role":"user","content":[{"type":"text","text":"Hi \"you\"\n"}]},"#
                + #"{"role":"assistant","content":[{"type":"thinking","signature":"s"},{"type":"text","text":"Well"},"#
                + #"{"type":"tool_use","id":"t1","name":"clock","input":{"zone":"UTC"}}]},"#
                + #"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"12:00"},"#
                + #"{"type":"text","text":"and now?"}]}]}"#)
    }

    @Test func `for other servers has the results of tools as messages of their own`() {
        #expect(
            text(ChatRequest.body(Self.prompt))
                == #"{"model":"m","stream":true,"stream_options":{"include_usage":true},"#
                + #""messages":[{"role":"system","content":"You are sage."},{"role":"user","content":"Hi \"you\"\n"},"#
                + #"{"role":"assistant","content":"Well","tool_calls":[{"id":"t1","type":"function","#
                + #""function":{"name":"clock","arguments":"{\"zone\":\"UTC\"}"}}]},"#
                + #"{"role":"tool","tool_call_id":"t1","content":"12:00"},{"role":"user","content":"and now?"}],"#
                + #""tools":[{"type":"function","function":{"name":"clock","description":"The time.","#
                + #""parameters":{"type":"object"}}}],"max_tokens":1024}"#)
    }

    @Test func `has no empty parts and no sampling values`() {
        let plain = Prompt(
            model: "m", turns: [SpokenTurn(.assistant, ""), SpokenTurn(.user, "x")], maxTokens: 5)
        #expect(
            text(AnthropicRequest.body(plain))
                == #"{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#
        )
        #expect(
            text(ChatRequest.body(plain, sizeName: .maxCompletionTokens)).contains(
                #""max_completion_tokens":5"#))
    }
}

@Suite struct `what a reply costs` {
    private let price = TokenPrice(input: 3, output: 15)

    @Test func `counts each kind of token at its price`() {
        #expect(price.cost(of: TokenUsage(input: 1_000_000)) == 3)
        #expect(price.cost(of: TokenUsage(output: 1_000_000)) == 15)
        #expect(price.cost(of: TokenUsage(cacheWrite: 1_000_000)) == 3.75)
        #expect(abs(price.cost(of: TokenUsage(cacheRead: 1_000_000)) - 0.3) < 1e-12)
    }

    @Test func `is what the provider says it is, where it does`() {
        #expect(BotUsage(TokenUsage(input: 5, costUSD: 0.5), price: price).costMicros == 500_000)
        #expect(BotUsage(TokenUsage(input: 5, costUSD: 0.5), price: nil).costMicros == 500_000)
        #expect(BotUsage(TokenUsage(input: 5), price: nil).costMicros == nil)
    }

    @Test func `counts cached tokens among those that were read, and in millionths of a USD`() {
        let usage = BotUsage(
            TokenUsage(input: 10, cacheWrite: 4, cacheRead: 100, output: 7), price: price)
        #expect(usage == BotUsage(inputTokens: 114, cachedTokens: 100, outputTokens: 7, costMicros: 180))
    }

    @Test func `is bounded whatever a provider reports`() {
        let usage = BotUsage(
            TokenUsage(input: .max, cacheWrite: .max, cacheRead: .min, output: -5, costUSD: .infinity),
            price: price)
        #expect(usage.inputTokens == 2_000_000_000_000 && usage.cachedTokens == 0 && usage.outputTokens == 0)
        #expect(usage.costMicros == 1_000_000_000_000_000)
        #expect(BotUsage(TokenUsage(costUSD: .nan), price: nil).costMicros == 0)
        #expect(BotUsage(TokenUsage(costUSD: -3), price: nil).costMicros == 0)
    }
}

@Suite struct `a reply while it comes` {
    @Test func `shows what the bot does, and how many words it wrote`() {
        var reply = ReplyProgress()
        #expect(reply.report == nil)
        var changes: [Bool] = []
        var phases: [String?] = []
        let events: [ReplyEvent] = [
            .thinking("hm"), .thinking("hm"), .calling("search"), .text("Two wo"), .text("rds, "),
            .text("three"),
        ]
        for event in events {
            changes.append(reply.note(event))
            phases.append(reply.report?.phase)
        }
        #expect(changes == [true, false, true, true, false, false])
        #expect(phases == ["thinking", "thinking", "tool search", "writing", "writing", "writing"])
        #expect(reply.report?.message == "3 words")
        #expect(reply.text == "Two words, three")
    }

    @Test func `shows a tool's name as plain text`() {
        var reply = ReplyProgress()
        _ = reply.note(.calling("\u{1B}[31mx\n\(String(repeating: "y", count: 200))"))
        let phase = reply.report?.phase ?? ""
        #expect(!phase.contains("\u{1B}") && !phase.contains("\n") && phase.count < 60)
    }
}
