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

    /// The conversation that a program of a `provider` reported; nil: it reported none, or one that must not be resumed.
    package init?(reported id: String?, by provider: String) {
        guard let id else { return nil }
        self.init(provider: provider, id: id)
        guard isSafe else { return nil }
    }

    /// Whether its id may stand in a command line: no option, no path, nothing but the characters of ids.
    ///
    /// A program prints the id, and what it prints may be another's text.
    package var isSafe: Bool {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }
        let marks: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")]
        return id.utf8.first.map(isPlain) == true && id.utf8.count <= 128
            && id.utf8.allSatisfy { isPlain($0) || marks.contains($0) }
    }
}

/// What became of the session of a bot's provider in one attempt.
package enum SessionOutcome: Hashable, Sendable {
    /// The next prompt may resume it.
    case kept(Continuation)
    /// The provider does not know it any more: the next prompt begins another one.
    case lost
}
