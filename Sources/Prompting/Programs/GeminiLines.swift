import Tracking

/// Reads the lines of `gemini -p --output-format stream-json`.
///
/// - Source: Gemini CLI, "Headless mode".
struct GeminiLines: JSONLineReader {
    private var text = ""

    func end(_ end: BotProgramEnd) -> [LineStep] {
        switch end {
        case .code(42): [.fail(ReplyFailure(.badRequest))]
        case .code(53): [.fail(ReplyFailure(.budget, detail: "it reached its limit of turns"))]
        default: []
        }
    }

    mutating func read(_ json: JSON) -> [LineStep] {
        switch json["type"]?.text {
        case "init":
            return [.event(.started(Continuation(reported: json["session_id"]?.text, by: "gemini")))]
        case "message":
            guard json["role"]?.text == "assistant", let more = json["content"]?.text else {
                return [.event(.activity)]
            }
            let piece = (text.isEmpty || json["delta"] == .bool(true) ? "" : "\n\n") + more
            text += piece
            return [.event(.text(piece))]
        case "tool_use":
            guard let name = json["tool_name"]?.text else { return [.event(.activity)] }
            let call = ToolCall(
                id: json["tool_id"]?.text ?? "", name: name, arguments: json["parameters"] ?? .members([]),
                isPerformed: true)
            return [.event(.toolCall(call))]
        case "result": return result(json)
        // An error of its own is a warning; one that ends the reply is in the result.
        default: return [.event(.activity)]
        }
    }

    private func result(_ json: JSON) -> [LineStep] {
        let stats = json["stats"]
        let usage = TokenUsage(
            read: stats?["input_tokens"], ofCache: stats?["cached"], written: stats?["output_tokens"])
        guard json["status"]?.text == "success" else {
            let words = json["error"]?["message"]?.text ?? ""
            let failure = ReplyFailure(
                JSONLine.kind(of: words, else: .server),
                detail: CleanText.line(words, limit: ProviderError.messageLimit))
            return [.event(.usage(usage)), .fail(failure)]
        }
        return [.event(.usage(usage)), .finish(Finish(.end, turn: SpokenTurn(.assistant, text)))]
    }
}
