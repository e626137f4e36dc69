package import Tracking

/// What `job add` makes a job of, or what `job edit` changes in one; absent: as it is, or the default.
package struct JobDraft: Hashable, Sendable {
    /// Needed to add; the path names the job of an edit.
    package var name: String?
    /// Where a new job comes from: `cli` unless named, or `import`.
    package var origin: String?
    /// When it runs; `zone` absent: that of the configuration.
    package var schedule: WireSchedule?
    /// The rest, by the names that the fields of a job have in a draft: members beside these three.
    package var fields: JSON = .members([])

    /// An empty draft.
    package init() {}
}

extension JobDraft: Codable {
    private enum CodingKeys: String, CodingKey { case name, origin, schedule }

    /// Reads an object; members that no field has are kept, and refused by name where the draft is applied.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decodeIfPresent(String.self, forKey: .name)
        origin = try members.decodeIfPresent(String.self, forKey: .origin)
        schedule = try members.decodeIfPresent(WireSchedule.self, forKey: .schedule)
        if case .members(let others) = try JSON(from: decoder) {
            fields = .members(others.filter { $0.value != .null })
        }
        for key in [CodingKeys.name, .origin, .schedule] { fields[key.rawValue] = nil }
    }

    /// Writes one object.
    package func encode(to encoder: any Encoder) throws {
        var object = fields
        object["name"] = name.map { .string($0) }
        object["origin"] = origin.map { .string($0) }
        object["schedule"] = try schedule.map { try JSON(encoding: $0) }
        try object.encode(to: encoder)
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
