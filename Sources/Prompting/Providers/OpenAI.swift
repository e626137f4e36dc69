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
    private static func messages(_ turn: SpokenTurn) -> [JSON] {
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
        let (events, isTooLong) = stream.events(in: bytes)
        read(events, report)
        if isTooLong { count.fail(malformed: "an event is too long", report) }
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
                return count.fail(malformed: "an event is not a JSON object", report)
            }
            do throws(ChatCalls.Fault) {
                try read(json, report)
            } catch {
                count.fail(malformed: error.text, report)
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
        var parts: [SpokenTurn.Part] = text.isEmpty ? [] : [.text(text)]
        // A call whose arguments were cut off by the size is none.
        if finishReason != "length", let broken {
            return count.fail(
                malformed: "the arguments of the call of \(broken) are not a JSON object", report)
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
        count.finish(Finish(reason, turn: SpokenTurn(.assistant, parts)), report)
    }

    private static let done = Array("[DONE]".utf8)
}

/// The tool calls of a reply, merged from deltas by their index.
///
/// Servers differ: some leave the index out, repeat the id, send the arguments whole, or as an object.
struct ChatCalls {
    /// The most calls of one reply.
    static let limit = 1000

    private struct Call {
        var id = ""
        var name = ""
        var arguments = ""
    }

    private var order: [Int] = []
    private var calls: [Int: Call] = [:]

    /// No call was begun.
    var isEmpty: Bool { order.isEmpty }

    /// A delta has the wrong type, or there are too many calls.
    struct Fault: Error, Hashable {
        let text: String
    }

    /// Merges one delta; returns the name of a call that it begins, and how many bytes of arguments it has.
    mutating func merge(_ delta: JSON) throws(Fault) -> (begun: String?, size: Int) {
        guard case .members = delta else { throw Fault(text: "a tool call is not an object") }
        let id = delta["id"]?.text ?? ""
        let index = delta["index"]?.int ?? self.index(ofCall: id)
        if calls[index] == nil {
            guard order.count < Self.limit else {
                throw Fault(text: "the reply has more than \(Self.limit) tool calls")
            }
            order.append(index)
            calls[index] = Call()
        }
        if !id.isEmpty { calls[index]?.id = id }
        var begun: String?
        if let name = delta["function"]?["name"]?.text, !name.isEmpty, calls[index]?.name.isEmpty == true {
            calls[index]?.name = name
            begun = name
        }
        var more = ""
        switch delta["function"]?["arguments"] {
        case nil, .null: break
        case .string(let text): more = text
        case .members(let members)?:
            more = String(decoding: JSON.members(members).bytes, as: UTF8.self)
        default: throw Fault(text: "the arguments of a tool call are not a text")
        }
        calls[index]?.arguments += more
        return (begun, more.utf8.count)
    }

    /// A delta without an index belongs to the call of its id, to a new one where the id is new, else to the last.
    private func index(ofCall id: String) -> Int {
        if !id.isEmpty {
            if let known = calls.first(where: { $0.value.id == id })?.key { return known }
            // A server may have sent the largest index there is: no call comes after that one.
            let (next, isBeyond) = (order.max() ?? -1).addingReportingOverflow(1)
            return isBeyond ? order.last ?? 0 : next
        }
        return order.last ?? 0
    }

    /// The complete calls in order, and the name of one whose arguments are no JSON object.
    func finished() -> (calls: [ToolCall], broken: String?) {
        var broken: String?
        let finished: [ToolCall] = order.sorted().compactMap { index in
            guard let call = calls[index] else { return nil }
            let arguments =
                call.arguments.allSatisfy(\.isWhitespace)
                ? JSON.members([]) : JSON(parsing: Array(call.arguments.utf8)[...])
            guard let arguments, case .members = arguments, !call.name.isEmpty else {
                broken = CleanText.line(call.name.isEmpty ? "?" : call.name, limit: 64)
                return nil
            }
            // The result is returned by the id: one that the server left out is made from the place.
            return ToolCall(
                id: call.id.isEmpty ? "call_\(index)" : call.id, name: call.name, arguments: arguments)
        }
        return (finished, broken)
    }
}
