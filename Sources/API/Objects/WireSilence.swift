/// A time in which what matches notifies nobody.
package struct WireSilence: Hashable, Sendable, Codable {
    /// What identifies it.
    package var id: String
    /// Its conditions, such as `host=db1`; all of them must hold.
    package var matchers: [String]
    /// When it begins.
    package var from: Timestamp
    /// When it ends.
    package var until: Timestamp
    /// Who made it.
    package var by: String
    /// Why, in the words of whoever made it.
    package var note: String?
    /// `pending`, `active` or `ended`.
    package var state: String

    /// A silence without a note.
    package init(
        id: String, matchers: [String], from: Timestamp, until: Timestamp, by: String, state: String
    ) {
        self.id = id
        self.matchers = matchers
        self.from = from
        self.until = until
        self.by = by
        self.state = state
    }
}

/// Silences what matches for a while.
package struct SilenceRequest: Hashable, Sendable, Codable {
    /// Conditions such as `job=backup` or `job=~backup-.*`; all of them must hold.
    ///
    /// Keys are `job`, `bot`, `channel`, `urgency`, `event` and the names of labels.
    package var matchers: [String]
    /// When it begins; absent: now.
    package var from: Timestamp?
    /// When it ends; or `forMs`.
    package var until: Timestamp?
    /// How long it lasts, milliseconds.
    package var forMs: Int64?
    /// Who makes it; absent: `api`.
    package var by: String?
    /// Why.
    package var note: String?

    /// Silences what matches all of these.
    package init(matchers: [String]) {
        self.matchers = matchers
    }
}
