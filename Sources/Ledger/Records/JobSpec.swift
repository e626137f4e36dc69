/// What to do, when, and by which rules: the part of a job that a person writes.
///
/// A run keeps the revision of the spec it was decided under and executes exactly that.
package struct JobSpec: Hashable, Sendable, Codable {
    /// Matches `[a-z0-9][a-z0-9._-]{0,62}` and is no reserved word; see ``JobName``.
    package var name: String
    /// The bot it belongs to.
    package var bot: String
    package var action: JobAction
    package var schedule: ScheduleSpec
    /// Added to the job's environment.
    package var environment: [String: String]
    /// The folder it starts in; nil: the daemon user's home.
    package var directory: String?
    package var overlap: OverlapPolicy
    package var catchUp: CatchUpPolicy
    /// Ends the run after this long; nil: never.
    package var timeout: Duration?
    /// From TERM to KILL.
    package var grace: Duration
    /// How often a run is tried, the first time included.
    ///
    /// 1 or more.
    package var attempts: Int
    /// When the person is told of a wrapped command; nil: as the routes say.
    package var notify: NotifyWish?

    package init(name: String, bot: String = "belfry", action: JobAction, schedule: ScheduleSpec) {
        self.name = name
        self.bot = bot
        self.action = action
        self.schedule = schedule
        self.environment = [:]
        self.directory = nil
        self.overlap = .skip
        self.catchUp = .standard
        self.timeout = nil
        self.grace = .seconds(10)
        self.attempts = 1
    }
}

/// What a job does.
package enum JobAction: Hashable, Sendable, Codable {
    /// Runs a program with its arguments, no shell between. At least one element.
    case command([String])
    /// Runs a text by `/bin/sh -c`.
    case shell(String)

    /// The word for it in the API: `command` or `shell`.
    package var kind: String {
        switch self {
        case .command: "command"
        case .shell: "shell"
        }
    }
}

/// What happens to a slot that comes while the job's last run has not ended.
package enum OverlapPolicy: String, Hashable, Sendable, Codable {
    /// The slot is skipped, with reason `overlap`.
    case skip
}

/// What happens to slots that passed while nobody could decide them.
package struct CatchUpPolicy: Hashable, Sendable, Codable {
    package enum Mode: String, Hashable, Sendable, Codable {
        /// None of them runs.
        case none
        /// The newest one within ``CatchUpPolicy/within`` runs.
        case latest
    }

    package var mode: Mode
    /// Older slots are missed in any case.
    package var within: Duration

    package init(mode: Mode, within: Duration) {
        self.mode = mode
        self.within = within
    }

    /// The latest within 24 hours.
    package static let standard = CatchUpPolicy(mode: .latest, within: .seconds(86_400))
}
