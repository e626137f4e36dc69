/// Somebody who speaks.
package struct WireBot: Hashable, Sendable, Codable {
    /// What identifies it.
    package var name: String
    /// Its backend: `command`.
    package var kind: String
    /// How many jobs belong to it.
    package var jobs: Int
    /// How many of its messages nobody has read.
    package var unread: Int

    /// A bot with nothing to say yet.
    package init(name: String, kind: String, jobs: Int = 0, unread: Int = 0) {
        self.name = name
        self.kind = kind
        self.jobs = jobs
        self.unread = unread
    }
}
