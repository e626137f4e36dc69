import API
import ArgumentParser
import Host
import Settings

/// The daemon's command line.
struct Belfryd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "belfryd",
        abstract: "The Belfry daemon: runs scheduled jobs, tracks progress, sends notifications.",
        discussion: """
            Runs in the foreground, usually under a service manager. SIGHUP reloads the configuration. \
            SIGTERM stops the daemon within 5 s; running jobs continue in the warden, and the next daemon \
            adopts them.

            Examples:
              belfryd                               the daemon of this user
              belfryd --system                      the system daemon
              belfryd --drain                       waits for its runs at SIGTERM
              belfryd --check --config belfry.yaml  finds errors in a configuration
              belfryd listen --port 8080            shows webhooks as they arrive
              belfryd send --to phone "Hello"       sends a text over a channel, without a daemon
              belfryd backup belfry.sqlite          copies the ledger of a running daemon
            """,
        version: Version.text,
        subcommands: [Listen.self, Send.self, Agent.self, Backup.self, Restore.self, ReplayCommand.self])

    @OptionGroup var places: Places

    @OptionGroup var checking: Checking

    @OptionGroup var printing: Printing

    @Option(
        help: ArgumentHelp(
            "The log level: trace, debug, info, notice, warning or error.", valueName: "level"))
    var logLevel = "info"

    @Flag(
        help:
            "At SIGTERM, start no more runs and wait for active ones to end; a second SIGTERM stops at once."
    )
    var drain = false

    @Flag(help: "Print the JSON Schema of the configuration file, and exit.")
    var schema = false

    func run() async throws {
        if schema { return StandardOutput.print(ConfigurationSchema().text) }
        if printing.json && !checking.check { throw ValidationError("--json goes with --check") }
        if drain && checking.check { throw ValidationError("--drain is for a daemon, not for --check") }
        Signals.ignoreBrokenPipes()
        let paths = places.paths
        if checking.check {
            try ConfigurationFiles(path: paths.config).check(
                asJSON: printing.json, socket: paths.socket)
        } else {
            try await Daemon(paths: paths, drains: drain, logger: Log.make(level: logLevel)).run()
        }
    }
}

/// The format of output; one flag for the daemon and its subcommands, or the daemon's would take it from theirs.
struct Printing: ParsableArguments {
    @Flag(help: "Print JSON instead of text (with --check, and of webhooks).")
    var json = false
}

/// Whether something is only checked; one flag for the daemon and its subcommands.
struct Checking: ParsableArguments {
    @Flag(
        help: """
            Check the configuration and exit: 0 if it is valid, 2 if it is refused. With backup, check the copy.
            """)
    var check = false
}

/// Where things are; left out, design's places for this user.
struct Places: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The control socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The folder for the ledger and the output of runs.", valueName: "folder"))
    var state: String?

    @Flag(help: "Run as the system daemon: /etc/belfry, /var/lib/belfry, /run/belfry.")
    var system = false

    var paths: Paths {
        Paths(
            system ? .system : .user,
            overrides: Paths.Overrides(config: config, state: state, socket: socket))
    }
}
