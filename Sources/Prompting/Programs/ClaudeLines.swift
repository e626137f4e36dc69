import Timeline
import Tracking

/// Reads the lines of `claude -p --output-format stream-json --verbose`, with or without partial messages.
///
/// `is_error` can be true with the subtype `success` and the exit code 0: only it decides.
///
/// - Source: Claude Code, "Headless mode"; claude-agent-sdk-python.
struct ClaudeLines: JSONLineReader {
    private var text = ""
    private var hasPartials = false
    /// The limit that the account reached; nil: none.
    private var limit: JSON?
    /// Whether a tool was called: to ask again would do its work twice.
    private var hasCalled = false

    func end(_ end: BotProgramEnd) -> [LineStep] { [] }

    mutating func read(_ json: JSON) -> [LineStep] {
        switch json["type"]?.text {
        case "system":
            guard json["subtype"]?.text == "init" else { return [.event(.activity)] }
            return [.event(.started(Continuation(reported: json["session_id"]?.text, by: "claude")))]
        case "assistant": return (json["message"]?["content"]?.elements ?? []).map { block($0) }
        case "stream_event": return [partial(json["event"] ?? .null)]
        case "rate_limit_event":
            let info = json["rate_limit_info"]
            limit = info?["status"]?.text == "rejected" ? info : nil
            return [.event(.activity)]
        case "result": return result(json)
        default: return [.event(.activity)]
        }
    }

    private mutating func block(_ block: JSON) -> LineStep {
        switch block["type"]?.text {
        case "text":
            guard !hasPartials, let more = block["text"]?.text else { return .event(.activity) }
            // Messages of one turn are paragraphs of one reply.
            let piece = (text.isEmpty ? "" : "\n\n") + more
            text += piece
            return .event(.text(piece))
        case "thinking":
            return .event(hasPartials ? .activity : .thinking(block["thinking"]?.text ?? ""))
        case "tool_use":
            guard let id = block["id"]?.text, let name = block["name"]?.text else { return .event(.activity) }
            hasCalled = true
            return .event(
                .toolCall(
                    ToolCall(id: id, name: name, arguments: block["input"] ?? .members([]), isPerformed: true)
                ))
        default: return .event(.activity)
        }
    }

    private mutating func partial(_ event: JSON) -> LineStep {
        hasPartials = true
        switch (event["type"]?.text, event["delta"]?["type"]?.text) {
        case ("content_block_start", _)
        where event["content_block"]?["type"]?.text == "text" && !text.isEmpty:
            text += "\n\n"
            return .event(.text("\n\n"))
        case ("content_block_start", _):
            guard let name = event["content_block"]?["name"]?.text else { return .event(.activity) }
            hasCalled = true
            return .event(.calling(name))
        case ("content_block_delta", "text_delta"):
            let more = event["delta"]?["text"]?.text ?? ""
            text += more
            return .event(.text(more))
        case ("content_block_delta", "thinking_delta"):
            return .event(.thinking(event["delta"]?["thinking"]?.text ?? ""))
        default: return .event(.activity)
        }
    }

    private mutating func result(_ json: JSON) -> [LineStep] {
        var steps: [LineStep] = []
        if let usage = json["usage"], case .members = usage {
            steps.append(
                .event(
                    .usage(
                        TokenUsage(
                            input: usage["input_tokens"]?.tokens ?? 0,
                            cacheWrite: usage["cache_creation_input_tokens"]?.tokens ?? 0,
                            cacheRead: usage["cache_read_input_tokens"]?.tokens ?? 0,
                            output: usage["output_tokens"]?.tokens ?? 0,
                            costUSD: json["total_cost_usd"]?.double)
                    )))
        }
        let words = json["result"]?.text ?? ""
        let subtype = json["subtype"]?.text ?? ""
        if json["stop_reason"]?.text == "tool_deferred" {
            let call = json["deferred_tool_use"]?["id"]?.text
            return steps + [.finish(Finish(.deferred(call: call), turn: SpokenTurn(.assistant, text)))]
        }
        let isError = json["is_error"] == .bool(true) || subtype != "success"
        guard !isError else {
            // It reports a limit as a reply of its own; words before that can be said again.
            let failure = failure(json, words: words.isEmpty ? subtype : words)
            return steps + [.fail(failure, saidNothing: limit != nil && !hasCalled)]
        }
        if text.isEmpty, !words.isEmpty {
            text = words
            steps.append(.event(.text(words)))
        }
        return steps + [.finish(Finish(.end, turn: SpokenTurn(.assistant, text)))]
    }

    /// The moment of so many seconds since 1970; nil where nobody means such a time.
    private static func moment(_ seconds: Int) -> Moment? {
        (0...253_402_300_799).contains(seconds) ? Moment(seconds: Int64(seconds)) : nil
    }

    private func failure(_ json: JSON, words: String) -> ReplyFailure {
        var failure: ReplyFailure
        if let status = json["api_error_status"]?.int, (400...599).contains(status) {
            failure = ProviderAnswer(status: status, body: []).failure(model: "")
        } else {
            failure = ReplyFailure(JSONLine.kind(of: words, else: .server))
        }
        if let limit {
            failure.kind = .usageLimit(after: nil)
            failure.limitEnd = limit["resetsAt"]?.int.flatMap(Self.moment)
        }
        if json["subtype"]?.text == "error_max_turns" || json["subtype"]?.text == "error_max_budget_usd" {
            failure.kind = .budget
        }
        failure.detail = CleanText.line(words, limit: ProviderError.messageLimit)
        return failure
    }
}
