import API
import APIClient
import ArgumentParser
import Host
import TerminalView
import Tracking

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now; shows, cancels, pauses and repeats runs.",
        usage: """
            belfry run <job> [--follow] [--force] [--key <key>]
            belfry run show|logs|cancel|pause|resume|retry <job[#n]>
            """,
        discussion: """
            belfry run JOB starts the job now. With --follow it waits for the end and shows progress. With \
            --force it starts even if the previous run is still active. Requests with the same --key start \
            one run. A job's name alone means its newest run, for cancel the active one.

              belfry run backup --follow
              belfry run logs -f backup
              belfry run show backup#12
            """,
        subcommands: [
            RunStartCommand.self, RunShowCommand.self, RunLogsCommand.self, RunCancelCommand.self,
            RunPauseCommand.self,
            RunResumeCommand.self,
            RunRetryCommand.self,
        ], defaultSubcommand: RunStartCommand.self)
}

/// A run, completed by the shell.
struct RunArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The run's name; a job's name alone means its newest run.", valueName: "job[#n]"))
    var name: RunTarget
}

extension RunTarget {
    /// The name of the run that is meant now.
    func resolved(by client: DaemonClient) throws(APIError) -> RunName {
        if case .run(let name) = self { return name }
        let run = try client.ask(Endpoints.run(self))
        guard let name = run.name.flatMap(RunName.init) else { throw APIError(.noSuchRun) }
        return name
    }
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

    @OptionGroup var start: RunStart

    func run() throws { try start.run() }
}

/// The same below `belfry job`, where some look for it.
struct JobRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now, as belfry run does.",
        discussion: """
              belfry job run backup --follow
            """)

    @OptionGroup var start: RunStart

    func run() throws { try start.run() }
}

/// A job to run now, and how.
struct RunStart: ParsableArguments {
    @OptionGroup var job: JobArgument
    @Flag(help: "Wait for the run to end and show its progress.")
    var follow = false
    @Flag(help: "Run at once, whatever the job's overlap policy.")
    var force = false
    @Option(help: ArgumentHelp("Requests with the same key start one run.", valueName: "key"))
    var key: String?
    @OptionGroup var live: LiveOptions
    @OptionGroup var common: CommonOptions

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
        let watcher = try LiveWatcher(client, common, live.progress, osc: live.tab.osc, takesKeys: false)
        let run = try client.ask(Endpoints.runJob(job.name, body: request))
        let ended = try watcher.follow(run)
        throw ExitCode(OutcomeCode.of(ended))
    }
}

struct RunCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Ends a run and all its processes: first TERM, then KILL.",
        discussion: """
            A waiting run is withdrawn. KILL follows after the job's grace. A job's name
            alone means its active run.

              belfry run cancel backup
              belfry run cancel backup#12
            """)

    @OptionGroup var target: RunArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let run = try common.client().ask(Endpoints.cancelRun(target.name))
        if common.json { return try StandardOutput.print(json: run) }
        let name = run.name ?? "\(target.name)"
        StandardOutput.print(run.state.isEnded ? "\(name) is \(run.state.words)." : "Canceling \(name).")
    }
}

struct RunPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops all processes of a run until it is resumed.",
        discussion: """
            Its timeout is suspended meanwhile, and it stays paused across restarts of the daemon. Runs \
            over the network can't be paused. To pause the schedule of a job: belfry job pause.

              belfry run pause backup
              belfry run pause backup#12
            """)

    @OptionGroup var target: RunArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let run = try common.client().ask(Endpoints.pauseRun(target.name))
        if common.json { return try StandardOutput.print(json: run) }
        let name = run.name ?? "\(target.name)"
        StandardOutput.print("\(name) is paused. Continue it: belfry run resume \(name)")
    }
}

struct RunResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continues a paused run.",
        discussion: """
              belfry run resume backup
              belfry run resume backup#12
            """)

    @OptionGroup var target: RunArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let run = try common.client().ask(Endpoints.resumeRun(target.name))
        if common.json { return try StandardOutput.print(json: run) }
        StandardOutput.print("\(run.name ?? "\(target.name)") is \(run.state.words).")
    }
}

struct RunRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Repeats a finished run as a new one.",
        discussion: """
              belfry run retry backup
              belfry run retry backup#12
            """)

    @OptionGroup var target: RunArgument
    @OptionGroup var common: CommonOptions

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
            The middle of long output is left out. Each attempt has its own log: without --attempt the \
            newest one is printed, and -f continues with later attempts. A terminal is not sent the progress \
            that the run sent to its own (OSC 9;4 and 7501).

              belfry run logs backup | tail
              belfry run logs backup#12 --attempt 1
              belfry run logs -f backup#13
            """)

    @OptionGroup var target: RunArgument
    @Flag(name: .shortAndLong, help: "Follow the output until the run, or the attempt of --attempt, ends.")
    var follow = false
    @Option(help: ArgumentHelp("Print this attempt's output, 1 for the first.", valueName: "k"))
    var attempt: Int?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let attempt, attempt < 1 { throw ValidationError("--attempt takes a number from 1 up") }
    }

    func run() throws {
        let client = try common.client()
        // Once: a newer run must not take the place of the one that is followed.
        let run = try target.name.resolved(by: client)
        // A bar in the tab of this terminal would stay there when nobody draws it any more.
        let isTerminal = StandardOutput.isTerminal
        var passing = PassedOutput(removing: .all)
        let copied = try Output.copy(
            of: run, attempt: attempt, from: client, follow: follow,
            write: { StandardOutput.write(isTerminal ? passing.receive($0[...]) : $0) })
        StandardOutput.write(passing.finish())
        // Only for people: a pipe gets the output's bytes and nothing else.
        if copied == 0, StandardOutput.isTerminal { StandardError.print("belfry: \(run) printed nothing") }
    }
}
