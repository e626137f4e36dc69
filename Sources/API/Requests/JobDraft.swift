package import Ledger

/// What `job add` makes a job of, or what `job edit` changes in one; absent: as it is, or the default.
package struct JobDraft: Hashable, Sendable {
    /// Needed to add; the path names the job of an edit.
    package var name: String?
    /// Where a new job comes from: `cli` unless named, or `import`.
    package var origin: String?
    /// When it runs; `zone` absent: that of the configuration.
    package var schedule: WireSchedule?
    /// The rest, by the names that ``JobField/draft`` gives: members beside these three.
    package var fields: JobValue = .map([:])

    /// An empty draft.
    package init() {}
}

extension JobDraft: Codable {
    private enum CodingKeys: String, CodingKey { case name, origin, schedule }

    /// Reads an object; members that no version knows are kept, and ignored later.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decodeIfPresent(String.self, forKey: .name)
        origin = try members.decodeIfPresent(String.self, forKey: .origin)
        schedule = try members.decodeIfPresent(WireSchedule.self, forKey: .schedule)
        fields = try JobValue(from: decoder)
        for key in [CodingKeys.name, .origin, .schedule] { fields[key.rawValue] = nil }
    }

    /// Writes one object.
    package func encode(to encoder: any Encoder) throws {
        try fields.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(name, forKey: .name)
        try members.encodeIfPresent(origin, forKey: .origin)
        try members.encodeIfPresent(schedule, forKey: .schedule)
    }
}

/// Asks that a job be held still.
package struct PauseRequest: Hashable, Sendable, Codable {
    /// Why, for people.
    package var note: String?

    /// A request with a note, where there is one.
    package init(note: String? = nil) {
        self.note = note
    }
}
