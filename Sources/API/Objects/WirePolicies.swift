/// The rules a job runs by; durations are milliseconds.
package struct WirePolicies: Hashable, Sendable, Codable {
    /// What happens to a slot while the last run goes on: `skip`, `queue-one`, `queue-all`, `replace` or
    /// `allow`.
    package var overlap: String
    /// What happens to slots that nobody could decide in time.
    package var catchUp: WireCatchUp
    /// Runs start up to this long after their slots; absent: at once.
    package var spreadMs: Int64?
    /// How much of the spread this job always waits, by its name.
    package var spreadOffsetMs: Int64?
    /// Ends a run after this long; absent: never.
    package var timeoutMs: Int64?
    /// From TERM to KILL.
    package var graceMs: Int64
    /// How often a run is tried, the first time included.
    package var attempts: Int
    /// Whether a lost run is tried again, too.
    package var onLost: Bool?
    /// The longest wait before the second attempt; doubled for each one after it.
    package var backoffMs: Int64?
    /// What an attempt does about processes that those before it left running.
    package var leftovers: WireLeftovers?
    /// Of the runs that wait those with a higher number come first.
    package var priority: Int?
    /// What else it waits for; absent: nothing.
    package var concurrency: WireConcurrency?
    /// The user it runs as; absent: the daemon's own.
    package var user: String?
    /// Its file mode mask, in octal; absent: 022.
    package var umask: String?
    /// Its scheduling priority; absent: the daemon's own.
    package var nice: Int?
    /// What it reads: `text` or `file`; absent: nothing.
    package var stdin: String?
    /// The most it may use: `memory`, `fileSize`, `stack`, `core` in bytes, `cpu` in seconds, `files`, `processes`.
    package var limits: [String: Int]?

    /// Policies, each as given.
    package init(overlap: String, catchUp: WireCatchUp, timeoutMs: Int64?, graceMs: Int64, attempts: Int) {
        self.overlap = overlap
        self.catchUp = catchUp
        self.timeoutMs = timeoutMs
        self.graceMs = graceMs
        self.attempts = attempts
    }
}

/// What happens to slots that nobody could decide in time.
package struct WireCatchUp: Hashable, Sendable, Codable {
    /// `none`, `latest` or `all`.
    package var mode: String
    /// Older slots are missed in any case; milliseconds.
    package var withinMs: Int64
    /// How many slots run at most for one gap; of `all` alone.
    package var burst: Int?

    /// Catches up by `mode` what is younger than `withinMs` milliseconds.
    package init(mode: String, withinMs: Int64) {
        self.mode = mode
        self.withinMs = withinMs
    }
}

/// What an attempt does about processes that those before it left running.
package struct WireLeftovers: Hashable, Sendable, Codable {
    /// How long it waits for them, milliseconds.
    package var waitMs: Int64?
    /// What comes after that: `end` (they are ended, and it begins) or `fail` (the run ends failed).
    package var then: String?

    /// Waits for `waitMs` milliseconds, then does as `then` says; nil: as it is, or the default.
    package init(waitMs: Int64?, then: String?) {
        self.waitMs = waitMs
        self.then = then
    }
}
