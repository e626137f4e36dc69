import Tracking

/// Reads the lines of `codex exec --json`.
///
/// - Source: Codex CLI, "Non-interactive mode".
struct CodexLines: JSONLineReader {
    private var text = ""
    /// The last error that did not end the turn, such as a lost connection that is tried again.
    private var complaint = ""

    func end(_ end: BotProgramEnd) -> [LineStep] { complaint.isEmpty ? [] : [.fail(Self.failure(complaint))] }

    mutating func read(_ json: JSON) -> [LineStep] {
        switch json["type"]?.text {
        case "thread.started":
            return [.event(.started(Continuation(reported: json["thread_id"]?.text, by: "codex")))]
        case "item.started": return [.event(begun(json["item"] ?? .null))]
        case "item.completed": return [.event(done(json["item"] ?? .null))]
        case "turn.completed":
            let usage = json["usage"]
            let tokens = TokenUsage(
                read: usage?["input_tokens"], ofCache: usage?["cached_input_tokens"],
                written: usage?["output_tokens"])
            return [.event(.usage(tokens)), .finish(Finish(.end, turn: SpokenTurn(.assistant, text)))]
        case "turn.failed":
            return [.fail(Self.failure(json["error"]?["message"]?.text ?? complaint))]
        case "error":
            complaint = json["message"]?.text ?? complaint
            return [.event(.activity)]
        default: return [.event(.activity)]
        }
    }

    private func begun(_ item: JSON) -> ReplyEvent { toolName(item).map { .calling($0) } ?? .activity }

    private mutating func done(_ item: JSON) -> ReplyEvent {
        switch item["type"]?.text {
        case "agent_message":
            let piece = (text.isEmpty ? "" : "\n\n") + (item["text"]?.text ?? "")
            text += piece
            return .text(piece)
        case "reasoning": return .thinking(item["text"]?.text ?? "")
        default:
            guard let name = toolName(item), case .members(let members) = item else { return .activity }
            let arguments = members.filter { !["id", "type", "status"].contains($0.name) }
            return .toolCall(
                ToolCall(
                    id: item["id"]?.text ?? "", name: name, arguments: .members(arguments), isPerformed: true)
            )
        }
    }

    private func toolName(_ item: JSON) -> String? {
        switch item["type"]?.text {
        case "command_execution": "shell"
        case "file_change": "edit"
        case "mcp_tool_call": item["tool"]?.text ?? "mcp"
        case "web_search": "web_search"
        default: nil
        }
    }

    private static func failure(_ words: String) -> ReplyFailure {
        ReplyFailure(
            JSONLine.kind(of: words, else: .server),
            detail: CleanText.line(words, limit: ProviderError.messageLimit))
    }
}
