/// What a tool returned to the bot that called it.
package struct ToolAnswer: Hashable, Sendable {
    /// The most bytes of it that a bot is shown.
    package static let limit = 64 * 1024

    /// The result, or why there is none, in a sentence that the bot can act on.
    package let text: String
    /// Whether it is such a sentence.
    package let isError: Bool
    /// Whether the daemon stopped before there was a result: nothing is known of it.
    package var isInterrupted = false

    /// A result, or a refusal; what is longer than ``limit`` is cut there.
    package init(_ text: String, isError: Bool = false) {
        self.text = text.cut(toBytes: Self.limit)
        self.isError = isError
    }
}

extension String {
    /// The beginning of the text, at most so many bytes, with a note where it is cut; never in the middle of a letter.
    package func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: self) == nil { end = utf8.index(before: end) }
        return self[..<end] + "\n… cut here: it has \(utf8.count) bytes"
    }
}

extension Turn {
    /// The tools that the bot called and that wait for somebody to perform them.
    package var openCalls: [ToolCall] {
        parts.compactMap { part in
            if case .toolCall(let call) = part, !call.isPerformed { call } else { nil }
        }
    }
}
