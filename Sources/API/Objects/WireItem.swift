/// What a person sees as one thing: a thread of a bot, or a job.
package struct WireItem: Hashable, Sendable, Codable {
    /// What identifies it, such as `job:backup`.
    package var key: String
    /// `thread` or `job`.
    package var kind: String
    /// Whose it is.
    package var bot: String?
    /// Of a thread: its name.
    package var thread: String?
    /// Of a job: its name.
    package var job: String?
    /// How many messages nobody has read, or how many failures in a row.
    package var count: Int
    /// The newest three messages, oldest first.
    package var last: [WireMessage]
    /// `low`, `normal` or `critical`.
    package var urgency: String
    /// Why it rang last.
    package var reason: String?
    /// Rises by one with every version.
    package var revision: Int64

    /// An item with nothing said in it.
    package init(key: String, kind: String, urgency: String, revision: Int64) {
        self.key = key
        self.kind = kind
        self.count = 0
        self.last = []
        self.urgency = urgency
        self.revision = revision
    }
}
