import ArgumentParser
import Host

/// The daemon's command line.
struct Belfryd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "belfryd",
        abstract: "Runs bot jobs on their schedules, tracks their progress, and rings.",
        discussion: """
            Stays in the foreground; a service manager or `config/start` puts it to the back. \
            SIGHUP reads the configuration anew, SIGTERM ends the daemon within 5 s; running jobs go on in \
            the warden and are taken up by the next daemon.

            Examples:
              belfryd                               the daemon of this user
              belfryd --system                      the daemon of the machine
              belfryd --drain                       waits for its runs when it is told to end
              belfryd --check --config belfry.yaml  says what is wrong in a configuration
              belfryd listen --port 8080            shows webhooks as they arrive
              belfryd backup belfry.sqlite          copies the ledger, also while a daemon runs
            """,
        version: Version.text,
        subcommands: [Listen.self, Backup.self, Restore.self])

    @OptionGroup var places: Places

    @OptionGroup var checking: Checking

    @OptionGroup var printing: Printing

    @Option(
        help: ArgumentHelp(
            "How much to log: trace, debug, info, notice, warning or error.", valueName: "level"))
    var logLevel = "info"

    @Flag(
        help:
            "At SIGTERM, start no more runs and wait until those under way have ended; a second one ends at once."
    )
    var drain = false

    func run() async throws {
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

/// How it is said; one flag for the daemon and its subcommands, or the daemon's would take it from theirs.
struct Printing: ParsableArguments {
    @Flag(help: "With --check, and of webhooks: print JSON instead of text.")
    var json = false
}

/// Whether something is only looked at; one flag for the daemon and its subcommands.
struct Checking: ParsableArguments {
    @Flag(
        help: """
            Only look and end: at the configuration, 0 when it is good and 2 when it is refused; with backup at the \
            copy.
            """)
    var check = false
}

/// Where things are; left out, design's places for this user.
struct Places: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The control socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The folder of the ledger and the output of runs.", valueName: "folder"))
    var state: String?

    @Flag(help: "Be the daemon of the machine: /etc/belfry, /var/lib/belfry, /run/belfry.")
    var system = false

    var paths: Paths {
        Paths(
            system ? .system : .user,
            overrides: Paths.Overrides(config: config, state: state, socket: socket))
    }
}
