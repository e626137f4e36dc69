package import Tracking

/// Reads the stream of OpenAI's chat completions API and of servers that are compatible with it.
///
/// The reply is complete with `[DONE]`, or when the stream ends after a `finish_reason`: some servers never send the
/// former, and after the latter nothing but the usage follows. A stream that ends before both was cut off.
///
/// - Source: OpenAI API reference, "Chat completion chunk"; Ollama's and others' departures from it.
package struct ChatDecoder: ReplyDecoder {
    private var stream = EventStreamParser()
    private var count = ReplyCount()
    private var calls = ChatCalls()
    private var text = ""
    private var refusal = ""
    private var finishReason: String?
    private let model: String

    /// A decoder of the reply to a prompt to `model`.
    package init(model: String) {
        self.model = model
    }

    /// Whether it is a whole reply, which a server sends that does not stream.
    package static func isWhole(_ json: JSON) -> Bool {
        if case .members? = json["choices"]?.elements.first?["message"] { true } else { false }
    }

    package mutating func receive(_ bytes: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void) {
        guard !count.isOver else { return }
        var events: [EventStreamParser.Event] = []
        do throws(EventStreamParser.Failure) {
            try stream.receive(bytes) { events.append($0) }
        } catch {
            read(events, report)
            return fail("an event is too long", report)
        }
        read(events, report)
    }

    package mutating func end(_ report: (ReplyEvent) -> Void) {
        guard finishReason == nil else { return finish(report) }
        count.fail(ReplyFailure(.truncated), report)
    }

    private mutating func read(_ events: [EventStreamParser.Event], _ report: (ReplyEvent) -> Void) {
        for event in events where !count.isOver {
            if event.data.elementsEqual(Self.done) {
                // Closed on purpose and without a word why: what there is, is the reply.
                guard finishReason != nil || count.hasOutput || !calls.isEmpty else {
                    return count.fail(ReplyFailure(.truncated, detail: "it is empty"), report)
                }
                return finish(report)
            }
            guard let json = JSON(parsing: event.data[...], repairing: true), case .members = json else {
                return fail("an event is not a JSON object", report)
            }
            do throws(ChatCalls.Fault) {
                try read(json, report)
            } catch {
                fail(error.text, report)
            }
        }
    }

    private mutating func read(_ json: JSON, _ report: (ReplyEvent) -> Void) throws(ChatCalls.Fault) {
        if let error = ProviderError(json["error"]) {
            let kind = error.kind(model: model, else: .server)
            return count.fail(ReplyFailure(kind, detail: error.message), report)
        }
        if !count.hasStarted { count.report(.started(nil), report) }
        switch json["choices"] {
        case .array(let choices)?:
            // Only one reply is asked for.
            let first = choices.first { ($0["index"]?.int ?? 0) == 0 }
            if let first { try read(choice: first, report) } else { count.report(.activity, report) }
        case nil, .null: count.report(.activity, report)
        default: throw ChatCalls.Fault(text: "choices is not a list")
        }
        noteUsage(json["usage"], report)
    }

    private mutating func read(choice: JSON, _ report: (ReplyEvent) -> Void) throws(ChatCalls.Fault) {
        let delta = choice["delta"] ?? choice["message"]
        switch delta {
        case .members?: try read(delta: delta ?? .null, report)
        case nil, .null: count.report(.activity, report)
        default: throw ChatCalls.Fault(text: "delta is not an object")
        }
        switch choice["finish_reason"] {
        case .string(let word)?: finishReason = word
        case nil, .null: break
        default: throw ChatCalls.Fault(text: "finish_reason is not a text")
        }
    }

    private mutating func read(delta: JSON, _ report: (ReplyEvent) -> Void) throws(ChatCalls.Fault) {
        var isSilent = true
        if let more = try Self.text(delta, "content") {
            text += more
            isSilent = false
            count.report(.text(more), report)
        }
        for name in ["reasoning", "reasoning_content"] {
            guard let more = delta[name]?.text, !more.isEmpty else { continue }
            isSilent = false
            count.report(.thinking(more), report)
        }
        if let more = try Self.text(delta, "refusal") {
            isSilent = false
            if count.count(more.utf8.count, report) { refusal += more }
        }
        for call in delta["tool_calls"]?.elements ?? [] {
            isSilent = false
            let (begun, size) = try calls.merge(call)
            guard count.count(size, report) else { return }
            count.report(begun.map { .calling($0) } ?? .activity, report)
        }
        if isSilent { count.report(.activity, report) }
    }

    /// The text of that name; nil where it is absent or empty.
    private static func text(_ delta: JSON, _ name: String) throws(ChatCalls.Fault) -> String? {
        switch delta[name] {
        case .string(let text)?: return text.isEmpty ? nil : text
        case nil, .null: return nil
        default: throw ChatCalls.Fault(text: "\(name) is not a text")
        }
    }

    private mutating func noteUsage(_ json: JSON?, _ report: (ReplyEvent) -> Void) {
        guard let json, json["prompt_tokens"]?.tokens != nil else { return }
        let usage = TokenUsage(
            read: json["prompt_tokens"], ofCache: json["prompt_tokens_details"]?["cached_tokens"],
            written: json["completion_tokens"])
        count.report(.usage(usage), report)
    }

    private mutating func finish(_ report: (ReplyEvent) -> Void) {
        let (complete, broken) = calls.finished()
        var parts: [Turn.Part] = text.isEmpty ? [] : [.text(text)]
        // A call whose arguments were cut off by the size is none.
        if finishReason != "length", let broken {
            return fail("the arguments of the call of \(broken) are not a JSON object", report)
        }
        for call in complete {
            count.report(.toolCall(call), report)
            parts.append(.toolCall(call))
        }
        let reason: Finish.Reason =
            switch finishReason {
            case "length": .maxTokens
            case "content_filter" where refusal.isEmpty: text.isEmpty ? .refusal(nil) : .filtered
            case _ where !refusal.isEmpty: .refusal(CleanText.line(refusal, limit: 200))
            // Some servers give `stop` with tool calls.
            case _ where !complete.isEmpty: .toolCalls
            case "stop", nil: .end
            case let word?: .other(CleanText.line(word, limit: 64))
            }
        count.finish(Finish(reason, turn: Turn(.assistant, parts)), report)
    }

    private mutating func fail(_ detail: String, _ report: (ReplyEvent) -> Void) {
        count.fail(ReplyFailure(.malformed, detail: CleanText.line(detail, limit: 200)), report)
    }

    private static let done = Array("[DONE]".utf8)
}
