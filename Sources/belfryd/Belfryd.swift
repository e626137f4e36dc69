import API
import ArgumentParser
import Glibc
import Host
import Logging
import Settings
import Timeline

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

/// The end of the program: a sentence, perhaps a hint, and the exit code.
struct Failure: Error {
    var message: String
    var hint: String?
    /// 1: something failed; 2: usage, or a refused configuration.
    var code: Int32
    /// What is printed instead for programs.
    var json: String?

    init(_ message: String, hint: String? = nil, code: Int32 = 1) {
        self.message = message
        self.hint = hint
        self.code = code
    }

    func end() -> Never {
        if let json {
            StandardError.print(json)
            exit(code)
        }
        let text = message.hasSuffix("\n") ? message : message + "\n"
        StandardError.write(text + (hint.map { "  hint: \($0)\n" } ?? ""))
        exit(code)
    }
}

extension StandardOutput {
    /// Writes `text` and a line end; ends the program with 1 and the reason where that can't be done.
    static func print(_ text: String) {
        do throws(HostError) {
            try send(Array((text + "\n").utf8))
        } catch {
            // As the signal would, where it is ignored.
            if error.code == EPIPE { exit(128 + SIGPIPE) }
            Failure("belfryd: standard output can't be written: \(error.reason)").end()
        }
    }
}

/// The daemon's log: lines on standard error, as a service manager collects them.
enum Log {
    /// A logger of at least `level`; an unknown level is refused.
    static func make(level: String) throws(Failure) -> Logger {
        guard let level = Logger.Level(rawValue: level) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure("belfryd: \"\(level)\" is no log level; use one of \(levels)", code: 2)
        }
        var logger = Logger(label: "belfryd") { _ in LogLines() }
        logger.logLevel = level
        return logger
    }
}

/// Writes `TIME LEVEL MESSAGE KEY=VALUE ...` to standard error, the keys in order.
struct LogLines: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var details = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { details["error"] = "\(error)" }
        let pairs = details.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.word(of: $0.value))" }
        let time = Moment(seconds: Moment.now.seconds).iso8601
        StandardError.print("\(time) \(event.level) \(event.message)\(pairs.joined())")
    }

    /// The value, in quotation marks where it would not be one word.
    private static func word(of value: Logger.Metadata.Value) -> String {
        let text = "\(value)"
        let isWord = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" }
        guard !isWord else { return text }
        return "\"" + text.unicodeScalars.map { $0 == "'" ? "'" : $0.escaped(asASCII: false) }.joined() + "\""
    }
}
