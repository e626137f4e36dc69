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
