import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

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
