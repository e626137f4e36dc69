import Tracking

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
        count.fail(ReplyFailure(.truncated), report)
    }

    private mutating func read(_ events: [EventStreamParser.Event], _ report: (ReplyEvent) -> Void) {
        for event in events where !count.isOver {
            guard let json = JSON(parsing: event.data[...], repairing: true) else {
                return fail("an event is not JSON", report)
            }
            do throws(AnthropicFault) {
                try read(json, type: json["type"]?.text ?? event.name, report)
            } catch {
                fail(error.description, report)
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
                return fail("the arguments of the call of \(name) are not JSON", report)
            }
        }
        count.finish(Finish(reason, turn: blocks.turn), report)
    }

    private mutating func fail(_ detail: String, _ report: (ReplyEvent) -> Void) {
        count.fail(ReplyFailure(.malformed, detail: CleanText.line(detail, limit: 200)), report)
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
