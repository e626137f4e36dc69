package import Ledger
package import Tracking

/// A run that `belfry exec` did without a daemon, as it waits in the state folder's `spool` for the next one.
///
/// The file is `ID.json`; what the run printed is beside it, as `ID.log` with its pieces. It is written before the
/// command starts and again, synced, when it has ended. When `belfry exec` is killed meanwhile, the warden it started
/// continues and leaves its record as `warden/ID.1`.
package struct SpooledRun: Hashable, Sendable, Codable {
    /// The only form of this version.
    package static let form = 1
    /// The most bytes of a file; a longer one is none of ours.
    package static let limit = 1 << 20

    /// ``form``.
    package var form: Int
    /// A UUIDv7 in lower case: the file's name, the run's id, and with `exec:` before it its cause.
    package var id: String
    /// The name it is filed under.
    package var job: String
    /// The bot it belongs to; absent: `belfry`.
    package var bot: String?
    /// When the person is notified; see ``ExecRequest/notify``.
    package var notify: String?
    /// After how long the person is notified of its end; see ``ExecRequest/notifyAfterMs``.
    package var notifyAfterMs: Int64?
    /// The program and its arguments.
    package var command: [String]
    /// The folder it ran in.
    package var cwd: String
    /// `running`, `completed`, `failed`, `canceled`, `timedOut` or `lost`.
    package var state: RunState
    /// Why, where the state does not say it all.
    package var reason: RunReason?
    /// When it was started, or was about to be.
    package var startedAt: Timestamp
    /// When it ended; absent while it runs.
    package var endedAt: Timestamp?
    /// What it exited with.
    package var exitCode: Int?
    /// The signal that ended it.
    package var signal: Int?
    /// Processor time, milliseconds.
    package var cpuMs: Int64?
    /// The most memory it held, KiB.
    package var maxRssKb: Int64?
    /// Processes of it that still ran when it had ended; absent: none.
    package var survivors: [WireSurvivor]?
    /// How much it printed, kept or not.
    package var outputBytes: Int64?
    /// Its warden: once that has ended without a record, a run that is still `running` is lost.
    package var watcher: ProcessMark

    /// A run that is about to start.
    package init(
        id: String, job: String, command: [String], cwd: String, startedAt: Timestamp, watcher: ProcessMark
    ) {
        form = Self.form
        self.id = id
        self.job = job
        self.command = command
        self.cwd = cwd
        state = .running
        self.startedAt = startedAt
        self.watcher = watcher
    }
}
