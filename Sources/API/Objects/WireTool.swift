package import Tracking

/// A tool that a bot may call.
package struct WireTool: Hashable, Sendable, Codable {
    /// The name it is called by.
    package var name: String
    /// What it does, for the bot.
    package var description: String
    /// The JSON schema of its arguments.
    package var inputSchema: JSON
    /// Whether a call of one id does nothing twice, so that it may be sent again; absent: it may not.
    package var isRepeatable: Bool?

    /// A tool of this name.
    package init(name: String, description: String, inputSchema: JSON, isRepeatable: Bool) {
        (self.name, self.description, self.inputSchema) = (name, description, inputSchema)
        self.isRepeatable = isRepeatable ? true : nil
    }
}

/// Calls a tool as a bot.
package struct ToolCallRequest: Hashable, Sendable, Codable {
    /// The tool.
    package var name: String
    /// Its arguments, an object; absent: none.
    package var arguments: JSON?
    /// The id of the run in which the bot calls it; absent: none.
    package var run: String?
    /// Chosen by the caller, fresh: sent again with it, a call of a repeatable tool does nothing twice; absent: it does.
    package var id: String?

    /// A call without arguments, and outside of a run, unless they are set.
    package init(name: String) { self.name = name }
}

/// How far a call of a tool is.
package struct WireToolProgress: Hashable, Sendable, Codable {
    /// The part that is done, 0 to 1; absent: nobody knows.
    package var progress: Double?
    /// One line about it; absent: there is nothing to say.
    package var message: String?

    /// Nothing is known, unless it is given.
    package init(progress: Double? = nil, message: String? = nil) {
        (self.progress, self.message) = (progress, message)
    }
}

/// What a tool returned.
package struct WireToolAnswer: Hashable, Sendable, Codable {
    /// The result, or why there is none, as a sentence for the bot.
    package var text: String
    /// Whether it is such a sentence.
    package var isError: Bool

    /// An answer.
    package init(text: String, isError: Bool) { (self.text, self.isError) = (text, isError) }
}

/// A call of a tool, as it is recorded with its run.
package struct WireToolCall: Hashable, Sendable, Codable {
    /// When it was called.
    package var at: Timestamp
    /// The attempt that it belongs to.
    package var attempt: Int
    /// The tool.
    package var tool: String
    /// The arguments as JSON, cut at 4 KiB.
    package var arguments: String
    /// What it returned, cut at 4 KiB.
    package var result: String
    /// Whether it was refused or failed; absent: it was not.
    package var isError: Bool?
    /// How long it took, milliseconds.
    package var elapsedMs: Int64
}
