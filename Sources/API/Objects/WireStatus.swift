/// How the daemon is.
package struct WireStatus: Hashable, Sendable, Codable {
    /// The daemon's version, such as `0.1.0`.
    package var version: String
    /// The daemon's process.
    package var pid: Int32
    /// When it started.
    package var since: Timestamp
    /// How long it has run, milliseconds, by a clock that nobody sets; absent from an older daemon.
    package var uptimeMs: Int64?
    /// The path of its configuration file.
    package var config: String
    /// The path of its state folder.
    package var state: String
    /// Absent while no warden answers.
    package var warden: WireWarden?
    /// How many jobs there are.
    package var jobs = 0
    /// How many runs are under way, from starting to stalled.
    package var running = 0
    /// How many runs wait for their turn.
    package var queued = 0
    /// The next slot of any job; absent when none is to come.
    package var nextAt: Timestamp?
    /// The job of that slot.
    package var nextJob: String?
    /// The release of the zone data that slots follow, such as `2025b`; absent when the machine does not say.
    package var tzdata: String?
    /// What waits for delivery.
    package var outbox = WireOutboxCounts(pending: 0, dead: 0)
    /// Every configured channel.
    package var channels: [WireChannel] = []
    /// The bots that have a provider; absent from an older daemon.
    package var bots: [WireBotState]?
    /// What is wrong, most important first; empty when all is well.
    package var problems: [WireProblem] = []

    /// A status with nothing in it but who answers.
    package init(version: String, pid: Int32, since: Timestamp, config: String, state: String) {
        self.version = version
        self.pid = pid
        self.since = since
        self.config = config
        self.state = state
    }
}

/// How a bot is doing.
package struct WireBotState: Hashable, Sendable, Codable {
    /// The bot's name.
    package var name: String
    /// `online`, `working`, `blocked` or `offline`.
    package var status: String
    /// Since when, where that is known.
    package var since: Timestamp?
    /// Why it is blocked or offline.
    package var reason: String?

    /// A bot with this status.
    package init(name: String, status: String, since: Timestamp? = nil, reason: String? = nil) {
        self.name = name
        self.status = status
        self.since = since
        self.reason = reason
    }
}

/// The process that holds the jobs.
package struct WireWarden: Hashable, Sendable, Codable {
    /// Its process.
    package var pid: Int32
    /// How many runs it holds.
    package var runs: Int
    /// The folder of its socket, for `belfry exec`.
    package var directory: String?

    /// A warden of process `pid` with `runs` runs.
    package init(pid: Int32, runs: Int) {
        self.pid = pid
        self.runs = runs
    }
}

/// How many outbox entries need something.
package struct WireOutboxCounts: Hashable, Sendable, Codable {
    /// Not delivered yet.
    package var pending: Int
    /// Given up.
    package var dead: Int

    /// Counts of what waits and what was given up.
    package init(pending: Int, dead: Int) {
        self.pending = pending
        self.dead = dead
    }
}

/// Something that is wrong with the daemon or its state, and a hint.
package struct WireProblem: Hashable, Sendable, Codable {
    /// How bad it is.
    package enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
        /// Something fails by it.
        case problem
        /// Worth a look; nothing fails by it.
        case warning
    }

    /// A stable word, such as `noRoute`.
    package var kind: String
    /// One sentence.
    package var message: String
    /// What to do about it, where something can be done.
    package var hint: String?
    /// Absent from an older daemon, which knows only problems.
    package var severity: Severity?

    /// A problem of a kind.
    package init(kind: String, message: String, hint: String? = nil, severity: Severity = .problem) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.severity = severity
    }

    /// Whether it is only worth a look.
    package var isWarning: Bool { severity == .warning }
}

/// What this build calls itself.
package enum Version {
    package static let text = "0.1.0"
}

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
