/// What `job add` makes a job of, or what `job edit` changes in one; absent: as it is, or the default.
package struct JobDraft: Hashable, Sendable, Codable {
    /// Needed to add; the path names the job of an edit.
    package var name: String?
    /// Where a new job comes from: `cli` unless said, or `import`.
    package var origin: String?
    /// The bot it belongs to.
    package var bot: String?
    /// When it runs; `zone` absent: that of the configuration.
    package var schedule: WireSchedule?
    /// The program and its arguments; not together with `shell`.
    package var command: [String]?
    /// A text for `/bin/sh -c`; not together with `command`.
    package var shell: String?
    /// The folder to start in.
    package var cwd: String?
    /// Added to the environment.
    package var env: [String: String]?
    /// The user it runs as, by name or number; only a warden of root can change users.
    package var user: String?
    /// The scheduling priority of its processes, -20 (first) to 19 (last).
    package var nice: Int?
    /// What a slot does while the last run goes on: `skip`, `queue-one`, `queue-all`, `replace` or `allow`.
    package var overlap: String?
    /// `none`, `latest` or `all`.
    package var catchUp: String?
    /// How far back it catches up, milliseconds.
    package var withinMs: Int64?
    /// How many slots `all` catches up at most.
    package var burst: Int?
    /// Starts runs up to this long after their slots, milliseconds; 0: at once.
    package var spreadMs: Int64?
    /// Ends a run after this long, milliseconds; 0: never.
    package var timeoutMs: Int64?
    /// From TERM to KILL, milliseconds.
    package var graceMs: Int64?
    /// How often a run is tried, the first time included.
    package var attempts: Int?
    /// Whether a lost run is tried again, too.
    package var onLost: Bool?
    /// The longest wait before the second attempt, milliseconds; doubled for each one after it.
    package var backoffMs: Int64?
    /// What an attempt does about processes that those before it left running.
    package var leftovers: WireLeftovers?
    /// From -100 to 100; runs with a higher number come first.
    package var priority: Int?
    /// What else it waits for; an empty key: nothing any more.
    package var concurrency: WireConcurrency?

    /// A draft that says nothing.
    package init() {}
}
