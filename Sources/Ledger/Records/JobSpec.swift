package import Delivery

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
    /// Its runs start up to this long after their slots, always as long for one name; nil: at once.
    package var spread: Duration?
    /// Ends the run after this long; nil: never.
    package var timeout: Duration?
    /// From TERM to KILL.
    package var grace: Duration
    /// How often a run is tried, the first time included.
    ///
    /// 1 or more.
    package var attempts: Int
    /// Whether a run is also tried again when its outcome is unknown.
    package var retriesLost: Bool
    /// The longest wait before the second attempt; doubled for each one after it.
    package var backoff: Duration
    /// What the next attempt does about processes that those before it left running.
    package var leftovers: LeftoverPolicy
    /// Of the runs that wait those with a higher number come first: ``priorities``.
    package var priority: Int
    /// What else runs that bear the same key let it wait for; nil: nothing.
    package var concurrency: ConcurrencyKey?
    /// When a wrapped command notifies its user; nil: by the routes.
    package var notify: NotifyWish?
    /// What its processes are given; nil: nothing of their own.
    package var process: ProcessRules?

    package init(name: String, bot: String = "belfry", action: JobAction, schedule: ScheduleSpec) {
        self.name = name
        self.bot = bot
        self.action = action
        self.schedule = schedule
        self.environment = [:]
        self.directory = nil
        self.overlap = .skip
        self.catchUp = .standard
        self.spread = nil
        self.timeout = nil
        self.grace = .seconds(10)
        self.attempts = 1
        self.retriesLost = false
        self.backoff = Self.standardBackoff
        self.leftovers = .standard
        self.priority = 0
        self.concurrency = nil
    }

    /// From the last to be served to the first.
    package static let priorities = -100...100
    /// The longest wait before the second attempt unless the job sets another.
    package static let standardBackoff: Duration = .seconds(10)
}

extension JobSpec {
    /// Reads what any version of Belfry stored: a rule that it did not know is by default.
    package init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try stored.decode(String.self, forKey: .name),
            bot: try stored.decode(String.self, forKey: .bot),
            action: try stored.decode(JobAction.self, forKey: .action),
            schedule: try stored.decode(ScheduleSpec.self, forKey: .schedule))
        func read<Value: Decodable>(_ value: inout Value, _ key: CodingKeys) throws {
            value = try stored.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        try read(&environment, .environment)
        try read(&directory, .directory)
        try read(&process, .process)
        try read(&overlap, .overlap)
        try read(&catchUp, .catchUp)
        spread = try stored.decodeIfPresent(Duration.self, forKey: .spread)
        try read(&timeout, .timeout)
        try read(&grace, .grace)
        try read(&attempts, .attempts)
        try read(&retriesLost, .retriesLost)
        try read(&backoff, .backoff)
        try read(&leftovers, .leftovers)
        try read(&priority, .priority)
        try read(&concurrency, .concurrency)
        try read(&notify, .notify)
    }
}

/// What a job does.
package enum JobAction: Hashable, Sendable, Codable {
    /// Runs a program with its arguments, no shell between. At least one element.
    case command([String])
    /// Runs a text by `/bin/sh -c`.
    case shell(String)

    /// Its name in the API: `command` or `shell`.
    package var kind: String {
        switch self {
        case .command: "command"
        case .shell: "shell"
        }
    }
}
