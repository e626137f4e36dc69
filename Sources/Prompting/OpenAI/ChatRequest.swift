package import Tracking

/// The request of OpenAI's chat completions API, which many servers have, for a prompt.
///
/// - Source: OpenAI API reference, "Create chat completion"; Ollama, "OpenAI compatibility".
package enum ChatRequest {
    /// Where completions are asked for, below the base address.
    package static let path = "/chat/completions"
    /// Where the models are listed, below the base address.
    package static let modelsPath = "/models"

    /// How the server calls the largest size of the reply.
    package enum SizeName: String, Hashable, Sendable {
        /// What most servers accept.
        case maxTokens = "max_tokens"
        /// What OpenAI's reasoning models demand.
        case maxCompletionTokens = "max_completion_tokens"
    }

    /// The body of the request, as JSON.
    package static func body(_ prompt: Prompt, sizeName: SizeName = .maxTokens) -> JSON {
        var messages: [JSON] = []
        if let system = prompt.system {
            messages.append(.object(["role": .string("system"), "content": .string(system)]))
        }
        for turn in prompt.turns { messages += Self.messages(turn) }
        let body: JSON = .object([
            "model": .string(prompt.model),
            "stream": .bool(true),
            "stream_options": .object(["include_usage": .bool(true)]),
            "messages": .array(messages),
            "tools": prompt.tools.isEmpty ? nil : .array(prompt.tools.map(tool)),
        ])
        guard case .members(let members) = body else { return body }
        return .members(members + [JSON.Member(sizeName.rawValue, .int(prompt.maxTokens))])
    }

    private static func tool(_ tool: Tool) -> JSON {
        .object([
            "type": .string("function"),
            "function": .object([
                "name": .string(tool.name), "description": .string(tool.about), "parameters": tool.arguments,
            ]),
        ])
    }

    /// The messages of one turn: each result of a tool is one of its own, before what else was said.
    private static func messages(_ turn: Turn) -> [JSON] {
        var texts: [String] = []
        var calls: [JSON] = []
        var messages: [JSON] = []
        for part in turn.parts {
            switch part {
            case .text(let text): texts.append(text)
            case .toolCall(let call): calls.append(self.call(call))
            case .toolResult(let id, let text, _):
                messages.append(
                    .object([
                        "role": .string("tool"), "tool_call_id": .string(id), "content": .string(text),
                    ]))
            case .opaque: break
            }
        }
        guard !texts.isEmpty || !calls.isEmpty else { return messages }
        let content: JSON = texts.isEmpty ? .null : .string(texts.joined(separator: "\n\n"))
        return messages + [
            .object([
                "role": .string(turn.speaker.rawValue), "content": content,
                "tool_calls": calls.isEmpty ? nil : .array(calls),
            ])
        ]
    }

    private static func call(_ call: ToolCall) -> JSON {
        .object([
            "id": .string(call.id), "type": .string("function"),
            "function": .object([
                "name": .string(call.name),
                "arguments": .string(String(decoding: call.arguments.bytes, as: UTF8.self)),
            ]),
        ])
    }
}
