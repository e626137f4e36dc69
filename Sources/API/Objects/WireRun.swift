package import Ledger
package import Tracking

/// The doing of one slot or of one request; or a span of slots that did not run.
///
/// A span has `slot`, `lastSlot`, `count`, `job`, `state` and `reason`, and nothing else.
package struct WireRun: Hashable, Sendable, Codable {
    /// A UUIDv7 in lower case.
    package var id: String?
    /// `JOB#N`.
    package var name: String?
    /// The job it does.
    package var job: String
    /// The bot the job belongs to.
    package var bot: String?
    /// `scheduled`, `manual`, `exec`, `reply` or `hook`.
    package var kind: String?
    /// What it was started by, such as `key:nightly`; no two runs of a job share one.
    package var cause: String?
    /// The slot it does; of a span the first one.
    package var slot: Timestamp?
    /// The last slot of a span.
    package var lastSlot: Timestamp?
    /// How many slots a span holds.
    package var count: Int?
    /// Where it is, or how it ended.
    package var state: RunState
    /// Why, where there is more to say than the state does.
    package var reason: RunReason?
    /// The attempt it is at, from 1.
    package var attempt: Int?
    /// All attempts, first one first; in listings absent.
    package var attempts: [WireAttempt]?
    /// The id of the run that this one does again.
    package var retryOf: String?
    /// The run whose bot handed this one out, by its name, or by its id where that no longer exists; absent: no run did.
    package var parent: String?
    /// While it waits for its next attempt: not before this.
    package var notBefore: Timestamp?
    /// When its row was written.
    package var queuedAt: Timestamp?
    /// When its process was started.
    package var startedAt: Timestamp?
    /// When it ended.
    package var endedAt: Timestamp?
    /// What the process exited with; absent when a signal ended it.
    package var exitCode: Int?
    /// The signal that ended the process.
    package var signal: Int?
    /// After how long it is ended, milliseconds; absent: never, and in listings.
    package var timeoutMs: Int64?
    /// From TERM to KILL, milliseconds; in listings absent.
    package var graceMs: Int64?
    /// From the slot to the durable row, milliseconds.
    package var latenessMs: Int64?
    /// From the row to the start, milliseconds.
    package var queueDelayMs: Int64?
    /// Where it is right now, or where it ended.
    package var live: WireLive?
    /// How much it printed, kept or not.
    package var outputBytes: Int64?
    /// The last lines it printed, without terminal sequences and secrets, at most 2,048 bytes; absent where it
    /// completed or printed nothing.
    package var outputTail: String?
    /// Processor time, milliseconds.
    package var cpuMs: Int64?
    /// The most memory one of its processes held, KiB; absent where the system does not say.
    package var maxRssKb: Int64?
    /// Processes of it that still ran when it had ended, at most 1,000; absent: none.
    package var survivors: [WireSurvivor]?
    /// What it waits for; absent: for nothing that is known.
    package var waitsFor: WireWait?
    /// What its bot used, all attempts together; absent: no bot was asked, or its provider reported nothing.
    package var usage: WireUsage?
    /// The calls of tools that its bot made, oldest first; absent: none, and in listings.
    package var calls: [WireToolCall]?

    /// A run or span of which only the job and the state are known yet.
    package init(job: String, state: RunState, reason: RunReason? = nil) {
        self.job = job
        self.state = state
        self.reason = reason
    }
}

/// What a run waits for.
package struct WireWait: Hashable, Sendable, Codable {
    /// `spread`, `retry`, `network`, `cap`, `lane`, `overlap`, `concurrency` or `warden` before it starts; `question`, `permission`
    /// or `auth` while it is blocked.
    package var kind: WaitKind
    /// The bot, the job, the concurrency key or the question (its id) that it waits for.
    package var name: String?
    /// Until when, where that is known.
    package var until: Timestamp?
    /// How many runs are before it there, those at work included; in listings absent.
    package var before: Int?

    /// A wait.
    package init(kind: WaitKind, name: String? = nil, until: Timestamp? = nil, before: Int? = nil) {
        (self.kind, self.name, self.until, self.before) = (kind, name, until, before)
    }
}

/// One execution of a run.
package struct WireAttempt: Hashable, Sendable, Codable {
    /// From 1.
    package var n: Int
    /// Where it is, or how it ended.
    package var state: RunState
    /// Why, where there is more to say than the state does.
    package var reason: RunReason?
    /// When its process was started.
    package var startedAt: Timestamp?
    /// When its process ended.
    package var endedAt: Timestamp?
    /// What the process exited with; absent when a signal ended it.
    package var exitCode: Int?
    /// The signal that ended the process.
    package var signal: Int?
    /// What its bot used; absent: no bot was asked, or its provider reported nothing.
    package var usage: WireUsage?

    /// The `n`th attempt, in a state.
    package init(n: Int, state: RunState, reason: RunReason? = nil) {
        self.n = n
        self.state = state
        self.reason = reason
    }
}

/// What replies of a bot used.
package struct WireUsage: Hashable, Sendable, Codable {
    /// Tokens that were read, those of a cache included.
    package var inputTokens: Int
    /// Of those, the tokens found in the provider's cache; absent: none.
    package var cachedTokens: Int?
    /// Tokens that were written.
    package var outputTokens: Int
    /// What they cost; absent: no price is known.
    package var costUsd: Double?

    /// A usage without a cost.
    package init(inputTokens: Int, outputTokens: Int) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
    }
}

/// A process that a run left behind.
package struct WireSurvivor: Hashable, Sendable, Codable {
    /// Its id.
    package var pid: Int32
    /// What the kernel calls it: the first 15 bytes of its program's name.
    package var name: String

    /// A process by its id and its name.
    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }
}

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

/// Where the time of a job goes: its last completed run beside those before it.
package struct WireProfile: Hashable, Sendable, Codable {
    /// A phase; of runs that name none, a tenth of the progress.
    package struct Part: Hashable, Sendable, Codable {
        /// The phase's name, or `30 to 40 %`.
        package var name: String
        /// How long it took in the middle of the runs before, in milliseconds.
        package var usualMs: Int64
        /// How long it took in the last one, in milliseconds.
        package var lastMs: Int64
    }

    /// The job.
    package var job: String
    /// How many completed runs are known, at most 21.
    package var runs: Int
    /// How long a run took in the middle of the runs before the last, in milliseconds; absent for fewer than four runs.
    package var usualMs: Int64?
    /// How long the last run took, in milliseconds; absent for fewer than four runs.
    package var lastMs: Int64?
    /// The parts in order; empty where runs report neither phases nor progress.
    package var parts: [Part]
    /// The part that got slow; absent where none did.
    package var slow: String?

    /// The profile of a job with these completed runs, the oldest first.
    package init(job: String, _ history: [RunProfile]) {
        (self.job, runs, parts) = (job, history.count, [])
        guard let comparison = ProfileComparison(history) else { return }
        func milliseconds(_ seconds: Double) -> Int64 { Int64((min(seconds, 1e10) * 1000).rounded()) }
        (usualMs, lastMs) = (milliseconds(comparison.usual), milliseconds(comparison.last))
        parts = comparison.parts.map {
            Part(name: $0.name, usualMs: milliseconds($0.usual), lastMs: milliseconds($0.last))
        }
        slow = comparison.slow?.name
    }
}
