/// Asks that a command be run like a job, with the caller's folder and environment.
package struct ExecRequest: Hashable, Sendable, Codable {
    /// The job's name to file it under; absent: the command's own name.
    package var name: String?
    /// The bot it belongs to; absent: `belfry`.
    package var bot: String?
    /// When the person is told: `always`, `failure` or `never`; absent: failure.
    package var notify: String?
    /// The program and its arguments; at least one.
    package var command: [String]
    /// The folder to run in; an absolute path.
    package var cwd: String
    /// The whole environment, but for what every job gets.
    package var env: [String: String]

    /// A request to run `command` in `cwd` with the environment `env`.
    package init(command: [String], cwd: String, env: [String: String]) {
        self.command = command
        self.cwd = cwd
        self.env = env
    }
}
