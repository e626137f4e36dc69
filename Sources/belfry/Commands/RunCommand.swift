import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now; shows, cancels and repeats runs.",
        usage: """
            belfry run <job> [--follow] [--force] [--key <key>]
            belfry run show|logs|cancel|retry <job#n>
            """,
        discussion: """
            belfry run JOB starts the job now. With --follow it waits for the end and shows progress. With \
            --force it starts even if the previous run is still active. Requests with the same --key start \
            one run.

              belfry run backup --follow
              belfry run logs -f backup#12
            """,
        subcommands: [
            RunStartCommand.self, RunShowCommand.self, RunLogsCommand.self, RunCancelCommand.self,
            RunRetryCommand.self,
        ], defaultSubcommand: RunStartCommand.self)
}

/// The name of a run, completed by the shell.
struct RunArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The run's name.", valueName: "job#n"))
    var name: RunName
}

struct RunStartCommand: ParsableCommand {
    // The name is none a job can have: `belfry run NAME` comes here by default.
    static let configuration = CommandConfiguration(
        commandName: "JOB", abstract: "Runs the job of this name now.",
        discussion: """
            With --follow it waits for the run and exits with its exit code: 124 if it timed out, 126 if it is \
            not executable, 127 if it was not found, 128+n if signal n ended it, 125 for other failures. \
            Ctrl-C, or q on a terminal, stops waiting; the run continues.

              belfry run backup --follow
              belfry run backup --key today    one run, however often it is called
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Flag(help: "Wait for the run to end and show its progress.")
    var follow = false
    @Flag(help: "Run at once, whatever the job's overlap policy.")
    var force = false
    @Option(help: ArgumentHelp("Requests with the same key start one run.", valueName: "key"))
    var key: String?
    @Option(help: ArgumentHelp("How to show progress: auto, live, plain, json or quiet.", valueName: "how"))
    var progress: TerminalTraits.Progress = .auto

    func run() throws {
        let client = try common.client()
        let request = RunRequest(force: force ? true : nil, key: key)
        guard follow else {
            let run = try client.ask(Endpoints.runJob(job.name, body: request))
            StandardOutput.print(
                common.json ? try WireCoding.text(run) : "\(run.name ?? job.name) is \(run.state.rawValue).")
            return
        }
        // The feed first: a run that ends at once must not end unseen.
        let watcher = try LiveWatcher(client, common, progress)
        let run = try client.ask(Endpoints.runJob(job.name, body: request))
        let ended = try watcher.follow(run)
        throw ExitCode(OutcomeCode.of(ended))
    }
}

struct RunCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Ends a run and all its processes: first TERM, then KILL.",
        discussion: """
            A waiting run is withdrawn. KILL follows after the job's grace.

              belfry run cancel backup#12
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument

    func run() throws {
        let run = try common.client().ask(Endpoints.cancelRun(target.name))
        StandardOutput.print(common.json ? try WireCoding.text(run) : "Asked \(target.name) to end.")
    }
}

struct RunRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Repeats a finished run as a new one.",
        discussion: """
              belfry run retry backup#12
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument

    func run() throws {
        let run = try common.client().ask(Endpoints.retryRun(target.name))
        StandardOutput.print(
            common.json ? try WireCoding.text(run) : "\(run.name ?? "") is \(run.state.rawValue).")
    }
}

struct RunLogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints the output of a run, byte for byte.",
        discussion: """
            Long output is truncated in the middle. Each attempt has its own log: without \
            --attempt the newest one is printed, and -f continues with later attempts.

              belfry run logs backup#12 | tail
              belfry run logs backup#12 --attempt 1
              belfry run logs -f backup#13
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument
    @Flag(name: .shortAndLong, help: "Follow the output until the run, or the attempt of --attempt, ends.")
    var follow = false
    @Option(help: ArgumentHelp("Print this attempt's output, 1 for the first.", valueName: "k"))
    var attempt: Int?

    func validate() throws {
        if let attempt, attempt < 1 { throw ValidationError("--attempt takes a number from 1 up") }
    }

    func run() throws {
        try Output.copy(of: target.name, attempt: attempt, from: try common.client(), follow: follow)
    }
}
