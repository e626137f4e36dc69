package import Tracking

/// A job: what to do, when, and by which rules.
package struct WireJob: Hashable, Sendable, Codable {
    /// What identifies it.
    package var name: String
    /// Who made it: `file`, `cli` or `import`.
    package var origin: String
    /// `FILE:LINE` of a job from a file.
    package var at: String?
    /// The bot it belongs to.
    package var bot: String
    /// What it does: `command`, `shell`, `prompt` or `url`.
    package var kind: String
    /// When it runs.
    package var schedule: WireSchedule
    /// Whether a person holds it still.
    package var paused: WirePause
    /// 1 for the first; every edit adds one.
    package var revision: Int
    /// Its next slot; absent when none is to come, or it is paused.
    package var nextAt: Timestamp?
    /// Its newest run; absent before the first.
    package var lastRun: WireRun?
    /// The rules it runs by.
    package var policies: WirePolicies
    /// The program and its arguments, of a `command`.
    package var command: [String]?
    /// The text for `/bin/sh -c`, of a `shell`.
    package var shell: String?
    /// What its bot is asked, of a `prompt`.
    package var prompt: String?
    /// The address that it calls, of a `url`.
    package var url: String?
    /// The method that it calls it with, of a `url`.
    package var method: String?
    /// The statuses that are good, of a `url`; absent: 2xx.
    package var expect: [String]?
    /// The names of the headers that it sends, of a `url`; their values stay in the daemon.
    package var headers: [String]?
    /// The folder it starts in; absent: the daemon user's home.
    package var cwd: String?
    /// What to know of it although nothing is wrong; in the answer to adding and changing it alone.
    package var warnings: [String]?
    /// The names that its environment gets besides the usual ones; their values stay in the daemon.
    package var env: [String]?

    /// A job that never ran.
    package init(
        name: String, origin: String, bot: String, kind: String, schedule: WireSchedule, revision: Int,
        policies: WirePolicies
    ) {
        self.name = name
        self.origin = origin
        self.bot = bot
        self.kind = kind
        self.schedule = schedule
        self.paused = .no
        self.revision = revision
        self.policies = policies
    }
}

/// The rules a job runs by, by the names that the fields of a job have among the policies; and `spreadOffsetMs`, how
/// much of the spread this job always waits, by its name.
package struct WirePolicies: Hashable, Sendable, Codable {
    /// An object.
    package var values: JSON

    /// The rules in an object.
    package init(_ values: JSON) { self.values = values }

    /// The rule of that name, such as `timeoutMs` or `catchUp.mode`.
    package subscript(name: String) -> JSON? {
        var (value, names): (JSON?, _) = (values, name.split(separator: ".")[...])
        while let name = names.popFirst() { value = value?[String(name)] }
        return value
    }

    /// Reads any object.
    package init(from decoder: any Decoder) throws { values = try JSON(from: decoder) }

    /// Writes the object.
    package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

/// When a job runs.
package struct WireSchedule: Hashable, Sendable, Codable {
    /// `cron`, `calendar`, `every`, `after`, `at`, `startup`, `manual` or `several`; in a draft also `words`, whose text
    /// is a phrase.
    package var kind: String
    /// The schedule as it was written: an expression, `2w fri 17:00 from 2026-11-27`, a duration, a time; of
    /// `startup` its delay, empty where there is none; empty for `manual`; of `several` the texts of all, which a draft
    /// may leave empty.
    package var text: String
    /// The name of the zone its wall time is read in; absent where wall time plays no part.
    package var zone: String?
    /// Where the grid of an `every` begins; in a draft absent: now.
    package var from: Timestamp?
    /// The schedule in words; absent where nothing better than the text can be said.
    package var words: String?
    /// The phrase that it was read from; absent where it was not.
    package var phrase: String?
    /// How the limits of the phrase are understood, such as `17:00 is not included`; absent where it has none.
    package var note: String?
    /// The schedules of `several`, 2 to 16 of other kinds; absent for these.
    package var members: [WireSchedule]?
    /// What the coming clock changes do to it, one sentence; absent where nothing, and in listings.
    package var clockChanges: String?

    /// Several schedules: the job runs at the times of all of them.
    package init(several members: [WireSchedule]) {
        kind = "several"
        text = members.map { member in
            guard member.kind == "startup" else { return member.text }
            return member.text.isEmpty ? "startup" : "startup \(member.text)"
        }.joined(separator: "; ")
        self.members = members
    }

    /// A schedule of a kind.
    package init(kind: String, text: String, zone: String? = nil, words: String? = nil) {
        self.kind = kind
        self.text = text
        self.zone = zone
        self.words = words
    }
}

/// A job as a configuration file has it.
package struct WireJobText: Hashable, Sendable, Codable {
    /// A map `jobs:` with this job alone, as YAML.
    package var text: String
    /// The revision that the text shows; in a change, what it was made of: one of another revision is refused.
    package var revision: Int?

    /// A text.
    package init(text: String, revision: Int? = nil) {
        self.text = text
        self.revision = revision
    }
}

/// Whether a job is paused: `null`, or since when and why.
package enum WirePause: Hashable, Sendable {
    /// Its slots run.
    case no
    /// Somebody holds it still.
    case since(Timestamp, note: String?)

    /// Whether somebody holds it still.
    package var isPaused: Bool { self != .no }
}

extension WirePause: Codable {
    private enum Key: String, CodingKey { case since, note }

    /// Reads `null` or an object.
    package init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self = .no
            return
        }
        let container = try decoder.container(keyedBy: Key.self)
        self = .since(
            try container.decode(Timestamp.self, forKey: .since),
            note: try container.decodeIfPresent(String.self, forKey: .note))
    }

    /// Writes `null` or an object.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .no:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .since(let since, let note):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(since, forKey: .since)
            try container.encodeIfPresent(note, forKey: .note)
        }
    }
}

/// A slot to come, or a local time that has none because the clock skips it.
package struct WireSlot: Hashable, Sendable, Codable {
    /// The slot; for skipped times the moment at which the clock jumps.
    package var at: Timestamp
    /// Whether nothing runs there.
    package var isSkipped: Bool
    /// What a change of the clock does at this line; absent on ordinary days.
    package var note: String?

    /// A line of a preview.
    package init(at: Timestamp, isSkipped: Bool = false, note: String? = nil) {
        self.at = at
        self.isSkipped = isSkipped
        self.note = note
    }
}

/// The next slots of a job: times, or with `notes` objects.
package enum WireNextSlots: Hashable, Sendable {
    /// The slots alone.
    case times([Timestamp])
    /// The slots and skipped times, each with what a change of the clock does to it.
    case slots([WireSlot])
}

extension WireNextSlots: Codable {
    /// Reads either array; an empty one is ``times(_:)``.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let times = try? container.decode([Timestamp].self) {
            self = .times(times)
        } else {
            self = .slots(try container.decode([WireSlot].self))
        }
    }

    /// Writes the array.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .times(let times): try container.encode(times)
        case .slots(let slots): try container.encode(slots)
        }
    }
}

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
