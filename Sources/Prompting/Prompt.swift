package import Tracking

/// What a bot is asked: who it is, what was said so far, and what it may use.
package struct Prompt: Hashable, Sendable {
    /// The model, as the provider calls it.
    package var model: String
    /// Who the bot is and how it behaves; nil for nothing.
    package var system: String?
    /// What was said so far, the oldest first; the last turn is a person's or has the results of tools.
    package var turns: [SpokenTurn]
    /// The most tokens of the reply.
    package var maxTokens: Int
    /// What the bot may call.
    package var tools: [Tool]

    /// A prompt; without tools unless given.
    package init(
        model: String, system: String? = nil, turns: [SpokenTurn], maxTokens: Int, tools: [Tool] = []
    ) {
        self.model = model
        self.system = system
        self.turns = turns
        self.maxTokens = maxTokens
        self.tools = tools
    }
}

/// What one side said at a time.
package struct SpokenTurn: Hashable, Sendable {
    /// Who said it.
    package enum Speaker: String, Hashable, Sendable {
        /// A person, or Belfry on behalf of one.
        case user
        /// The bot.
        case assistant
    }

    /// One part of a turn.
    package enum Part: Hashable, Sendable {
        /// Text.
        case text(String)
        /// A tool the bot called.
        case toolCall(ToolCall)
        /// What a tool returned for the call of this id.
        case toolResult(id: String, text: String, isError: Bool)
        /// What only the provider that wrote it understands, such as signed thinking.
        ///
        /// It returns to that provider as it came, and is left out for any other.
        case opaque(provider: String, JSON)
    }

    /// Who said it.
    package var speaker: Speaker
    /// Its parts, in order.
    package var parts: [Part]

    /// A turn of these parts.
    package init(_ speaker: Speaker, _ parts: [Part]) {
        self.speaker = speaker
        self.parts = parts
    }

    /// A turn of text alone.
    package init(_ speaker: Speaker, _ text: String) {
        self.init(speaker, [.text(text)])
    }
}

/// What a bot may call.
package struct Tool: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// What it does, for the bot.
    package var about: String
    /// The JSON schema of its arguments, an object.
    package var arguments: JSON

    /// A tool of this name.
    package init(name: String, about: String, arguments: JSON) {
        self.name = name
        self.about = about
        self.arguments = arguments
    }
}

/// A tool that a bot called.
package struct ToolCall: Hashable, Sendable {
    /// The call's id, with which the result is returned.
    package var id: String
    /// The tool's name.
    package var name: String
    /// The arguments, an object.
    package var arguments: JSON
    /// Whether the provider calls the tool itself, so that nobody else does.
    package var isPerformed: Bool

    /// A call that waits for somebody to perform it, unless the provider does.
    package init(id: String, name: String, arguments: JSON, isPerformed: Bool = false) {
        self.id = id
        self.name = name
        self.arguments = arguments
        self.isPerformed = isPerformed
    }
}

/// What a job asks its bot, as its bot is shown it.
///
/// - Source: nanoclaw 1.2.46 and later, agent-runner; see agents.md 1.7.
package enum TaskPrompt {
    /// Stands before each prompt of a job: a bot should know that nobody waits to answer its questions.
    static let line =
        "[SCHEDULED TASK - The following message was sent automatically and is not coming directly from the user or group.]"

    /// Stands before each prompt that another bot wrote.
    static let subtask =
        "[SUBTASK - The following message was sent by another bot, which gets your reply. Reply with the result alone.]"

    /// The prompt behind that line and a blank one; `isSubtask`: another bot wrote it.
    package static func text(of prompt: String, isSubtask: Bool = false) -> String {
        "\(isSubtask ? subtask : line)\n\n\(prompt)"
    }
}

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

extension SpokenTurn {
    /// The tools that the bot called and that wait for somebody to perform them.
    package var openCalls: [ToolCall] {
        parts.compactMap { part in
            if case .toolCall(let call) = part, !call.isPerformed { call } else { nil }
        }
    }
}

/// What the script before a prompt printed, read: whether its bot is to be asked, and with what.
///
/// The last line that is not blank may be an object, `{"wakeAgent": true, "data": ...}`: only it counts then. Else all that
/// was printed is the data, and nothing printed is nothing to do.
/// - Source: nanoclaw 1.2.52, container/agent-runner; see agents.md 1.3. A script that fails is a failure here, not
///   silence.
package enum WakeAnswer: Hashable, Sendable {
    /// The bot is asked, with this text of the script; nil: with none.
    case wake(data: String?)
    /// There is nothing to do, for the script's own reason; nil: it gave none.
    case sleep(reason: String?)
    /// The last line is no answer, as the sentence says.
    case unreadable(String)

    /// The longest reason, in characters.
    private static let reasonLimit = 200

    /// Reads what was printed.
    package init(_ output: some Sequence<UInt8>) {
        let text = String(decoding: Array(output), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let last = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            self = .sleep(reason: nil)
            return
        }
        guard let json = JSON(parsing: Array(last.utf8)[...], repairing: true),
            let answer = json["wakeAgent"]
        else {
            self = .wake(data: Self.trimmed(text))
            return
        }
        switch answer {
        case .bool(true): self = .wake(data: json["data"].flatMap(Self.data))
        case .bool(false):
            let reason = json["reason"]?.text.map { CleanText.line($0, limit: Self.reasonLimit) }
            self = .sleep(reason: reason?.isEmpty == true ? nil : reason)
        default: self = .unreadable("its last line must have \"wakeAgent\": true or false")
        }
    }

    /// What a bot is asked: the data, and what to do with them.
    package static func prompt(_ instructions: String, data: String?) -> String {
        guard let data else { return instructions }
        return "Script output:\n\(data)\n\nInstructions:\n\(instructions)"
    }

    /// A text as it is, anything else as indented JSON; nil for null.
    private static func data(_ json: JSON) -> String? {
        switch json {
        case .null: nil
        case .string(let text): text
        default: json.indented
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension JSON {
    /// The value as `JSON.stringify(value, null, 2)` writes it.
    fileprivate var indented: String { indented(by: "") }

    private func indented(by margin: String) -> String {
        let inner = margin + "  "
        switch self {
        case .array(let values) where !values.isEmpty:
            let lines = values.map { inner + $0.indented(by: inner) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(margin)]"
        case .members(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + String(decoding: JSON.string(member.name).bytes, as: UTF8.self) + ": "
                    + member.value.indented(by: inner)
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
        default: return String(decoding: bytes, as: UTF8.self)
        }
    }
}
