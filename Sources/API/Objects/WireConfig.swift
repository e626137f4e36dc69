/// The configuration in use, defaults filled in, secrets left out.
package struct WireConfig: Hashable, Sendable, Codable {
    /// The file it came from; absent when there is none and the defaults hold.
    package var file: String?
    /// The zone of schedules that name none.
    package var zone: String
    /// The bots that are described, and those that jobs name.
    package var bots: [WireBot] = []
    /// The jobs of files.
    package var jobs: [WireJob] = []
    /// Every channel.
    package var channels: [WireChannel] = []
    /// In the order in which they are written.
    package var routes: [WireRoute] = []

    /// A configuration of nothing but a zone.
    package init(file: String?, zone: String) {
        self.file = file
        self.zone = zone
    }
}

/// Which events go to which channels.
package struct WireRoute: Hashable, Sendable, Codable {
    /// Words for events, such as `failed`.
    package var when: [String]
    /// Names of channels.
    package var to: [String]
    /// What it must be about, such as `job=backup`; absent: anything.
    package var match: [String]?
    /// The hours of the day in which it applies; absent: always.
    package var during: [String]?
    /// Whether it is the one where no route is configured, which leaves out what is routine; absent: it is not.
    package var isDefault: Bool?

    /// A route of the events `when` to the channels `to`.
    package init(when: [String], to: [String]) {
        self.when = when
        self.to = to
    }
}

/// What a reload of the configuration changed.
package struct WireReloadDifference: Hashable, Sendable, Codable {
    /// The jobs of files.
    package var jobs = WireChanges()
    /// The bots that are described.
    package var bots = WireChanges()
    /// The channels.
    package var channels = WireChanges()
    /// Whether the routes differ.
    package var routes = false
    /// The other keys of the file whose values differ: `inhibit`, `listen`, `zone`; absent: none does.
    package var parts: [String]?
    /// What to know although nothing is wrong.
    package var warnings: [String]?

    /// No difference.
    package init() {}

    /// Whether nothing changed.
    package var isEmpty: Bool { jobs.isEmpty && bots.isEmpty && channels.isEmpty && !routes && parts == nil }
}

/// Names that came, changed, or went, each in order of the alphabet.
package struct WireChanges: Hashable, Sendable, Codable {
    /// In the new configuration only.
    package var added: [String]
    /// In both, and different.
    package var changed: [String]
    /// In the old configuration only.
    package var removed: [String]

    /// Changes, none unless given.
    package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
        self.added = added
        self.changed = changed
        self.removed = removed
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}

/// A configuration that was checked and is good.
package struct WireConfigCheck: Hashable, Sendable, Codable {
    /// The file, as it was named.
    package var file: String
    /// How many jobs it and the files beside it hold.
    package var jobs: Int
    /// How many bots it describes.
    package var bots: Int
    /// How many channels there are with it.
    package var channels: Int
    /// What is no fault and yet worth a look.
    package var warnings: [WireFault]
    /// How phrases are understood, and what could not be checked; absent when there is nothing to say.
    package var notes: [String]?

    /// What was found.
    package init(file: String, jobs: Int, bots: Int, channels: Int, warnings: [WireFault]) {
        self.file = file
        self.jobs = jobs
        self.bots = bots
        self.channels = channels
        self.warnings = warnings
    }
}

/// One thing that is wrong in a configuration, with its place.
package struct WireFault: Hashable, Sendable, Codable {
    /// The file, as it was named.
    package var file: String
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in characters.
    package var column: Int
    /// One sentence without a full stop.
    package var message: String
    /// What to write instead, where that is known.
    package var hint: String?

    /// A fault at a place.
    package init(file: String, line: Int, column: Int, message: String, hint: String?) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint
    }
}

/// A warning or a fault of an expression, with its place.
package struct WireRemark: Hashable, Sendable, Codable {
    /// What is wrong, as programs compare it.
    package var kind: String
    /// The field it is in; absent when it concerns the whole text.
    package var field: String?
    /// The first byte at fault.
    package var start: Int
    /// The byte behind the last one at fault.
    package var end: Int
    /// One sentence without a full stop.
    package var message: String
    /// What to write instead, where that is known.
    package var fix: String?

    /// A remark on the bytes `range`.
    package init(
        kind: String, field: String? = nil, range: Range<Int>, message: String, fix: String? = nil
    ) {
        self.kind = kind
        self.field = field
        self.start = range.lowerBound
        self.end = range.upperBound
        self.message = message
        self.fix = fix
    }
}
