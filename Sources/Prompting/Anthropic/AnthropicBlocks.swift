import Tracking

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
    var turn: Turn { Turn(.assistant, order.compactMap { blocks[$0].flatMap(part) }) }

    private func part(_ block: Block) -> Turn.Part? {
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
