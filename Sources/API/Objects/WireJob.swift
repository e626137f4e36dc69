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
