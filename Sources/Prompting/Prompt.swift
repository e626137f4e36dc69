package import Tracking

/// What a bot is asked: who it is, what was said so far, and what it may use.
package struct Prompt: Hashable, Sendable {
    /// The model, as the provider calls it.
    package var model: String
    /// Who the bot is and how it behaves; nil for nothing.
    package var system: String?
    /// What was said so far, the oldest first; the last turn is a person's or has the results of tools.
    package var turns: [Turn]
    /// The most tokens of the reply.
    package var maxTokens: Int
    /// What the bot may call.
    package var tools: [Tool]

    /// A prompt; without tools unless given.
    package init(model: String, system: String? = nil, turns: [Turn], maxTokens: Int, tools: [Tool] = []) {
        self.model = model
        self.system = system
        self.turns = turns
        self.maxTokens = maxTokens
        self.tools = tools
    }
}

/// What one side said at a time.
package struct Turn: Hashable, Sendable {
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
