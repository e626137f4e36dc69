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
    private static func messages(_ turns: [Turn]) -> [JSON] {
        turns.compactMap { turn in
            let results = turn.parts.filter(\.isToolResult)
            let blocks = (results + turn.parts.filter { !$0.isToolResult }).compactMap(block)
            guard !blocks.isEmpty else { return nil }
            return .object(["role": .string(turn.speaker.rawValue), "content": .array(blocks)])
        }
    }

    private static func block(_ part: Turn.Part) -> JSON? {
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

extension Turn.Part {
    /// Whether it is what a tool returned.
    var isToolResult: Bool {
        if case .toolResult = self { true } else { false }
    }
}
