/// What resumes a conversation that a bot's provider keeps: opaque, and of use to that provider alone.
package struct Continuation: Hashable, Sendable, Codable {
    /// The provider, so that no id of one ever reaches another.
    package var provider: String
    /// Its session, thread or conversation.
    package var id: String
    /// What the whole conversation used so far, of a provider that reports nothing else; nil: not known.
    package var used: BotUsage?

    /// The conversation `id` of a provider.
    package init(provider: String, id: String, used: BotUsage? = nil) {
        self.provider = provider
        self.id = id
        self.used = used
    }
}

/// What became of the session of a bot's provider in one attempt.
package enum SessionOutcome: Hashable, Sendable {
    /// The next prompt may resume it.
    case kept(Continuation)
    /// The provider does not know it any more: the next prompt begins another one.
    case lost
}
