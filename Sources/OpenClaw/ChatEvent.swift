package import Tracking

/// What a gateway reports of a run that replies, in either version of the protocol.
package struct ChatEvent: Hashable, Sendable {
    /// How far the run is.
    package enum State: Hashable, Sendable {
        /// It is writing.
        case delta
        /// It has ended, with all that it wanted to say.
        case final
        /// Somebody ended it.
        case aborted(reason: String?)
        /// It failed.
        case failed(message: String, kind: String?)
    }

    /// The run: the key under which it was sent.
    package var run: String
    /// The canonical key of its session.
    package var session: String
    /// Rises within the run, with holes; nil: it is not numbered.
    package var seq: Int?
    package var state: State
    /// All of the text so far; nil: this event has none.
    package var text: String?
    /// The next piece of the text, or all of it where ``isReplacing``; nil: this event has none.
    package var piece: String?
    /// Whether the piece takes the place of all that came before.
    package var isReplacing: Bool
    /// What the run used; nil: it does not say.
    package var usage: ChatUsage?

    /// The payload of the event `chat`; nil where it is none that this version knows.
    ///
    /// What must not be shown of why a run failed is `hidden`.
    package init?(_ payload: JSON, hiding hidden: HiddenTexts = HiddenTexts()) {
        guard let run = payload["runId"]?.text, let word = payload["state"]?.text else { return nil }
        switch word {
        case "delta": state = .delta
        case "final": state = .final
        case "aborted":
            state = .aborted(reason: payload["stopReason"]?.text.map { CleanText.line($0, limit: 60) })
        case "error":
            state = .failed(
                message: CleanText.line(hidden.clean(payload["errorMessage"]?.text ?? ""), limit: 300),
                kind: payload["errorKind"]?.text)
        default: return nil
        }
        self.run = run
        session = payload["sessionKey"]?.text ?? ""
        seq = payload["seq"]?.int
        text = payload["message"].flatMap { $0 == .null ? nil : Self.text(of: $0) }
        piece = payload["deltaText"]?.text
        isReplacing = payload["replace"] == .bool(true)
        usage = payload["usage"].flatMap { ChatUsage($0) }
    }

    /// The text of a message: its items of type text, or the content itself in old rows.
    package static func text(of message: JSON) -> String {
        if let text = message["content"]?.text { return text }
        return (message["content"]?.elements ?? []).compactMap { item in
            item["type"]?.text == "text" ? item["text"]?.text : nil
        }.joined()
    }
}

/// The tokens that a run used.
package struct ChatUsage: Hashable, Sendable {
    package var input: Int
    package var cacheRead: Int
    package var output: Int

    /// Reads either spelling of the names; nil where there is neither.
    init?(_ json: JSON) {
        func count(_ names: String...) -> Int? { names.lazy.compactMap { json[$0]?.int }.first }
        guard let input = count("input_tokens", "input", "inputTokens"),
            let output = count("output_tokens", "output", "outputTokens")
        else { return nil }
        self.input = max(input, 0)
        self.output = max(output, 0)
        cacheRead = max(count("cache_read_tokens", "cacheRead", "cacheReadTokens") ?? 0, 0)
    }
}

/// The text of one run while it comes, put together from the events of either version.
///
/// What is cumulative, repeated, late or out of order leads to the same text; only the first end counts.
package struct ChatAssembly: Hashable, Sendable {
    /// What an event changed.
    package enum Change: Hashable, Sendable {
        /// The next piece of the text.
        case appended(String)
        /// The text is another one now: this.
        case replaced(String)
        /// The run ended so, and nothing follows.
        case ended(ChatEvent.State)
    }

    /// What an agent replies that has nothing to say.
    private static let silentTokens = ["NO_REPLY", "HEARTBEAT_OK"]
    /// The largest text.
    package static let limit = 32 << 20

    /// The text so far.
    package private(set) var text = ""
    /// The last usage that was reported.
    package private(set) var usage: ChatUsage?
    /// Whether the run has ended.
    package private(set) var isOver = false
    private var last: Int?

    /// Nothing so far.
    package init() {}

    /// What an event of the run changes; nothing where it is an old one.
    package mutating func receive(_ event: ChatEvent) -> [Change] {
        guard !isOver else { return [] }
        usage = event.usage ?? usage
        guard case .delta = event.state else { return end(event) }
        if let seq = event.seq {
            guard seq > last ?? .min else { return [] }
            last = seq
        }
        if let piece = event.piece {
            if event.isReplacing { return replace(piece) }
            // The whole text, where it is there too, shows whether a piece was lost.
            if let whole = event.text, whole.utf8.count != text.utf8.count + piece.utf8.count {
                return replace(whole)
            }
            return append(piece)
        }
        return event.text.map { replace($0) } ?? []
    }

    /// The run's text as the gateway's history has it; ends the run.
    package mutating func receive(whole: String) -> [Change] {
        guard !isOver else { return [] }
        isOver = true
        return replace(whole) + [.ended(.final)]
    }

    private mutating func end(_ event: ChatEvent) -> [Change] {
        isOver = true
        var changes: [Change] = []
        if let whole = event.text {
            if event.state == .final || !whole.isEmpty { changes = replace(whole) }
        } else if event.state == .final, Self.silentTokens.contains(where: { $0.hasPrefix(text) }) {
            // A reply that nobody should see ends without a message.
            changes = replace("")
        }
        return changes + [.ended(event.state)]
    }

    private mutating func append(_ piece: String) -> [Change] {
        guard !piece.isEmpty, text.utf8.count + piece.utf8.count <= Self.limit else { return [] }
        text += piece
        return [.appended(piece)]
    }

    private mutating func replace(_ whole: String) -> [Change] {
        guard whole != text, whole.utf8.count <= Self.limit else { return [] }
        let old = text
        text = whole
        // By bytes: letters cost a hundred times as much, and a letter may be cut between its parts.
        guard whole.utf8.starts(with: old.utf8) else { return [.replaced(whole)] }
        return [.appended(String(Substring(whole.utf8.dropFirst(old.utf8.count))))]
    }
}
