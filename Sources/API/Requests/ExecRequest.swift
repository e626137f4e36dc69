/// Asks that a command be run like a job, with the caller's folder and environment.
package struct ExecRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, fresh: asking again with it answers with the run that it made before.
    ///
    /// Absent: every request is a run.
    package var id: String?
    /// The job's name to file it under; absent: the command's own name.
    package var name: String?
    /// The bot it belongs to; absent: `belfry`.
    package var bot: String?
    /// When the person is notified: `always`, `failure` or `never`; absent: as the routes say.
    package var notify: String?
    /// The person is notified of its end if it took at least this long; absent: as the routes say.
    package var notifyAfterMs: Int64?
    /// The program and its arguments; at least one.
    package var command: [String]
    /// The folder to run in; an absolute path.
    package var cwd: String
    /// The whole environment, but for what every job gets.
    package var env: [String: String]
    /// The file mode mask; absent: the warden's.
    package var umask: UInt32?
    /// The token under which the caller offered its streams to the warden; absent: nobody is attached.
    package var attachment: String?
    /// The size of the terminal it is given; absent: it gets none.
    package var terminal: WireTerminal?

    /// A request to run `command` in `cwd` with the environment `env`.
    package init(command: [String], cwd: String, env: [String: String]) {
        self.command = command
        self.cwd = cwd
        self.env = env
    }
}

/// How large a terminal is, in characters.
package struct WireTerminal: Hashable, Sendable, Codable {
    /// From 1 to 65,535.
    package var rows: Int
    /// From 1 to 65,535.
    package var columns: Int

    /// A terminal of that size.
    package init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }
}
