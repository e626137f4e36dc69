package import Timeline
package import Tracking

/// The request of Anthropic's Messages API for a prompt.
///
/// No sampling values are sent and no reply is begun for the model: current models refuse both.
///
/// - Source: reference of the Messages API, version 2023-06-01.
package enum AnthropicRequest {
    /// The name under which the parts that only this provider understands are kept.
    package static let provider = "anthropic"
    /// The header `anthropic-version`.
    package static let version = "2023-06-01"
    /// Where messages are sent to, below the base address.
    package static let path = "/v1/messages"
    /// Where the models are listed, below the base address.
    package static let modelsPath = "/v1/models"

    /// The body of the request, as JSON.
    package static func body(_ prompt: Prompt) -> JSON {
        .object([
            "model": .string(prompt.model),
            "max_tokens": .int(prompt.maxTokens),
            "stream": .bool(true),
            "system": prompt.system.map { .string($0) },
            "tools": prompt.tools.isEmpty ? nil : .array(prompt.tools.map(tool)),
            "messages": .array(messages(prompt.turns)),
        ])
    }

    private static func tool(_ tool: Tool) -> JSON {
        .object([
            "name": .string(tool.name), "description": .string(tool.about), "input_schema": tool.arguments,
        ])
    }

    /// One message a turn; turns without a part that may be sent are left out, and the results of tools come first.
    private static func messages(_ turns: [SpokenTurn]) -> [JSON] {
        turns.compactMap { turn in
            let results = turn.parts.filter(\.isToolResult)
            let blocks = (results + turn.parts.filter { !$0.isToolResult }).compactMap(block)
            guard !blocks.isEmpty else { return nil }
            return .object(["role": .string(turn.speaker.rawValue), "content": .array(blocks)])
        }
    }

    private static func block(_ part: SpokenTurn.Part) -> JSON? {
        switch part {
        case .text(let text):
            // The API refuses a block of nothing.
            return text.isEmpty ? nil : .object(["type": .string("text"), "text": .string(text)])
        case .toolCall(let call):
            return .object([
                "type": .string("tool_use"), "id": .string(call.id), "name": .string(call.name),
                "input": call.arguments,
            ])
        case .toolResult(let id, let text, let isError):
            return .object([
                "type": .string("tool_result"), "tool_use_id": .string(id), "content": .string(text),
                "is_error": isError ? .bool(true) : nil,
            ])
        case .opaque(let provider, let json):
            return provider == self.provider ? json : nil
        }
    }
}

extension SpokenTurn.Part {
    /// Whether it is what a tool returned.
    var isToolResult: Bool {
        if case .toolResult = self { true } else { false }
    }
}

/// The headers with which Anthropic's API shows how much of each rate is left, and when there is more.
///
/// - Source: platform.claude.com, rate limits: `anthropic-ratelimit-KIND-remaining`, and `-reset` as a moment of RFC 3339.
package enum RateHeaders {
    private static let kinds = ["requests", "tokens", "input-tokens", "output-tokens"]

    /// How long it takes until each rate that is used up has something left again; nil: the headers name none.
    ///
    /// `header` returns the value of a header by its name.
    package static func wait(now: Moment, header: (String) -> String?) -> Duration? {
        let ends = kinds.compactMap { kind -> Moment? in
            guard header("anthropic-ratelimit-\(kind)-remaining") == "0",
                let reset = header("anthropic-ratelimit-\(kind)-reset")
            else { return nil }
            return try? Moment(iso8601: reset)
        }
        return ends.max().map { max($0 - now, .zero) }
    }
}

/// Reads the stream of Anthropic's Messages API.
///
/// Unknown events, blocks and deltas are activity and nothing else; what has the wrong type is an error of the provider.
/// A stream that ends before `message_stop` was cut off.
///
/// - Source: reference of the Messages API, "Streaming".
package struct AnthropicDecoder: ReplyDecoder {
    private var stream = EventStreamParser()
    private var count = ReplyCount()
    private var blocks = AnthropicBlocks()
    private var usage = TokenUsage()
    private var stopReason: String?
    private var refusal: String?
    private let model: String

    /// A decoder of the reply to a prompt to `model`.
    package init(model: String) {
        self.model = model
    }

    package mutating func receive(_ bytes: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void) {
        guard !count.isOver else { return }
        let (events, isTooLong) = stream.events(in: bytes)
        read(events, report)
        if isTooLong { count.fail(malformed: "an event is too long", report) }
    }

    package mutating func end(_ report: (ReplyEvent) -> Void) {
        count.fail(ReplyFailure(.truncated), report)
    }

    private mutating func read(_ events: [EventStreamParser.Event], _ report: (ReplyEvent) -> Void) {
        for event in events where !count.isOver {
            guard let json = JSON(parsing: event.data[...], repairing: true) else {
                return count.fail(malformed: "an event is not JSON", report)
            }
            do throws(AnthropicFault) {
                try read(json, type: json["type"]?.text ?? event.name, report)
            } catch {
                count.fail(malformed: error.description, report)
            }
        }
    }

    private mutating func read(
        _ json: JSON, type: String, _ report: (ReplyEvent) -> Void
    ) throws(AnthropicFault) {
        switch type {
        case "message_start":
            guard let message = json["message"] else { throw .missing("message", in: type) }
            count.report(.started(nil), report)
            noteUsage(message["usage"], report)
        case "content_block_start":
            guard let block = json["content_block"] else { throw .missing("content_block", in: type) }
            count.report(try blocks.open(block, at: index(json, type)), report)
        case "content_block_delta":
            guard let delta = json["delta"] else { throw .missing("delta", in: type) }
            try read(delta, at: index(json, type), report)
        case "content_block_stop":
            if let call = blocks.close(try index(json, type)) { count.report(.toolCall(call), report) }
        case "message_delta":
            stopReason = json["delta"]?["stop_reason"]?.text ?? stopReason
            refusal = json["delta"]?["stop_details"]?["explanation"]?.text ?? refusal
            noteUsage(json["usage"], report)
        case "message_stop": finish(report)
        case "error":
            let error = ProviderError(json["error"])
            let kind = error?.kind(model: model, else: .server) ?? .malformed
            count.fail(ReplyFailure(kind, detail: error?.message ?? ""), report)
        default: count.report(.activity, report)
        }
    }

    private mutating func read(
        _ delta: JSON, at index: Int, _ report: (ReplyEvent) -> Void
    ) throws(AnthropicFault) {
        let (event, kept) = try blocks.append(delta, at: index)
        // Arguments and signatures are kept and not reported: they count all the same.
        guard count.count(kept, report) else { return }
        count.report(event, report)
    }

    private func index(_ json: JSON, _ type: String) throws(AnthropicFault) -> Int {
        guard let index = json["index"]?.int else { throw .missing("index", in: type) }
        return index
    }

    /// Usage is cumulative; a part that is left out stays as it was.
    private mutating func noteUsage(_ json: JSON?, _ report: (ReplyEvent) -> Void) {
        guard let json, case .members = json else { return }
        usage.input = json["input_tokens"]?.tokens ?? usage.input
        usage.cacheWrite = json["cache_creation_input_tokens"]?.tokens ?? usage.cacheWrite
        usage.cacheRead = json["cache_read_input_tokens"]?.tokens ?? usage.cacheRead
        usage.output = json["output_tokens"]?.tokens ?? usage.output
        count.report(.usage(usage), report)
    }

    private mutating func finish(_ report: (ReplyEvent) -> Void) {
        let reason = Finish.Reason(anthropic: stopReason, refusal: refusal)
        let late = blocks.closeAll()
        if reason == .toolCalls {
            for call in late { count.report(.toolCall(call), report) }
            if let name = blocks.brokenCall {
                return count.fail(malformed: "the arguments of the call of \(name) are not JSON", report)
            }
        }
        count.finish(Finish(reason, turn: blocks.turn), report)
    }
}

extension Finish.Reason {
    fileprivate init(anthropic word: String?, refusal: String?) {
        switch word {
        case "end_turn", "stop_sequence": self = .end
        case "max_tokens": self = .maxTokens
        case "tool_use": self = .toolCalls
        case "pause_turn": self = .pause
        case "refusal": self = .refusal(refusal.map { CleanText.line($0, limit: 200) })
        case "model_context_window_exceeded": self = .contextFull
        case let word?: self = .other(CleanText.line(word, limit: 64))
        case nil: self = .end
        }
    }
}

/// An event of the stream that has not the form it is promised to have.
enum AnthropicFault: Error, Hashable, CustomStringConvertible {
    /// A part is absent, or has the wrong type.
    case missing(String, in: String)
    /// A delta of a block that was never opened, or is closed.
    case notOpen(Int)
    /// More blocks than any reply has.
    case tooManyBlocks

    var description: String {
        switch self {
        case .missing(let name, let type): "\(name) is missing or has the wrong type in \(type)"
        case .notOpen(let index): "a delta belongs to block \(index), which is not open"
        case .tooManyBlocks: "the reply has more than \(AnthropicBlocks.limit) blocks"
        }
    }
}

/// The blocks of a reply: assembled from their deltas, and returned to the provider as they came.
struct AnthropicBlocks {
    /// The most blocks of one reply.
    static let limit = 10_000
    /// The deltas that are read; others, such as those of a later version, are activity and nothing else.
    private static let deltas: Set<String> = [
        "text_delta", "thinking_delta", "signature_delta", "input_json_delta",
    ]

    private enum Kind: Hashable {
        case text, thinking, tool, serverTool
        /// Complete from the start, such as a result of the provider's own tool or thinking that is sealed.
        case whole
    }

    private struct Block {
        let kind: Kind
        /// As it was opened.
        let opening: JSON
        /// Its text, its thinking, or the JSON of its arguments so far.
        var text = ""
        var signature = ""
        var isOpen = true
        /// The call, once its arguments are complete.
        var call: ToolCall?
    }

    private var order: [Int] = []
    private var blocks: [Int: Block] = [:]
    /// The tool whose arguments ended and are no JSON object.
    private(set) var brokenCall: String?

    /// Opens a block and returns what to report of it.
    mutating func open(_ opening: JSON, at index: Int) throws(AnthropicFault) -> ReplyEvent {
        guard let type = opening["type"]?.text else { throw .missing("type", in: "content_block_start") }
        guard order.count < Self.limit else { throw .tooManyBlocks }
        if blocks[index] == nil { order.append(index) }
        switch type {
        case "text":
            let text = opening["text"]?.text ?? ""
            blocks[index] = Block(kind: .text, opening: opening, text: text)
            return text.isEmpty ? .activity : .text(text)
        case "thinking":
            let text = opening["thinking"]?.text ?? ""
            let signature = opening["signature"]?.text ?? ""
            blocks[index] = Block(kind: .thinking, opening: opening, text: text, signature: signature)
            return .thinking(text)
        case "tool_use", "server_tool_use":
            guard opening["id"]?.text != nil, let name = opening["name"]?.text else {
                throw .missing("id or name", in: "content_block_start")
            }
            blocks[index] = Block(kind: type == "tool_use" ? .tool : .serverTool, opening: opening)
            return .calling(name)
        default:
            blocks[index] = Block(kind: .whole, opening: opening)
            return .activity
        }
    }

    /// Adds a delta to an open block; returns what to report of it, and how many bytes it has that are not reported.
    mutating func append(
        _ delta: JSON, at index: Int
    ) throws(AnthropicFault) -> (event: ReplyEvent, kept: Int) {
        guard let type = delta["type"]?.text, Self.deltas.contains(type) else { return (.activity, 0) }
        // Only this is copied: a second owner of the text would have it copied by each delta.
        guard blocks[index]?.isOpen == true, let kind = blocks[index]?.kind else { throw .notOpen(index) }
        func text(_ name: String) throws(AnthropicFault) -> String {
            guard let text = delta[name]?.text else { throw .missing(name, in: "content_block_delta") }
            return text
        }
        switch (type, kind) {
        case ("text_delta", .text):
            let more = try text("text")
            add(more, to: index)
            return (.text(more), 0)
        case ("thinking_delta", .thinking):
            let more = try text("thinking")
            add(more, to: index)
            return (.thinking(more), 0)
        case ("signature_delta", .thinking):
            let more = try text("signature")
            blocks[index]?.signature += more
            return (.activity, more.utf8.count)
        case ("input_json_delta", .tool), ("input_json_delta", .serverTool):
            let more = try text("partial_json")
            add(more, to: index)
            return (.activity, more.utf8.count)
        default: return (.activity, 0)
        }
    }

    /// In place: a copy for each delta would make a long reply take for ever.
    private mutating func add(_ more: String, to index: Int) { blocks[index]?.text += more }

    /// Closes a block; returns its tool call, if it is one and complete.
    mutating func close(_ index: Int) -> ToolCall? {
        guard let block = blocks[index], block.isOpen else { return nil }
        blocks[index]?.isOpen = false
        guard block.kind == .tool || block.kind == .serverTool,
            let id = block.opening["id"]?.text, let name = block.opening["name"]?.text
        else { return nil }
        let arguments =
            block.text.isEmpty
            ? block.opening["input"] ?? .members([]) : JSON(parsing: Array(block.text.utf8)[...])
        guard let arguments, case .members = arguments else {
            brokenCall = CleanText.line(name, limit: 64)
            return nil
        }
        let call = ToolCall(
            id: id, name: name, arguments: arguments, isPerformed: block.kind == .serverTool)
        blocks[index]?.call = call
        return call
    }

    /// Closes the blocks that the provider left open; returns the tool calls that are complete all the same.
    mutating func closeAll() -> [ToolCall] { order.compactMap { close($0) } }

    /// The reply as a turn; calls whose arguments were cut off are left out.
    var turn: SpokenTurn { SpokenTurn(.assistant, order.compactMap { blocks[$0].flatMap(part) }) }

    private func part(_ block: Block) -> SpokenTurn.Part? {
        switch block.kind {
        case .text: block.text.isEmpty ? nil : .text(block.text)
        case .thinking:
            .opaque(
                provider: AnthropicRequest.provider,
                .object([
                    "type": .string("thinking"), "thinking": .string(block.text),
                    "signature": .string(block.signature),
                ]))
        case .tool: block.call.map { .toolCall($0) }
        case .serverTool:
            block.call.map { call in
                .opaque(
                    provider: AnthropicRequest.provider,
                    .object([
                        "type": .string("server_tool_use"), "id": .string(call.id),
                        "name": .string(call.name), "input": call.arguments,
                    ]))
            }
        case .whole: .opaque(provider: AnthropicRequest.provider, block.opening)
        }
    }
}
