import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

struct RunStartCommand: ParsableCommand {
    // The name is none a job can have: `belfry run NAME` comes here by default.
    static let configuration = CommandConfiguration(
        commandName: "JOB", abstract: "Runs the job of that name now.",
        discussion: """
            With --follow it waits, and exits as the job did: its own code, 124 when it timed out, 126 when \
            it could not be executed, 127 when it was not found, 128+n when signal n ended it, else 125. \
            Ctrl-C ends the waiting, not the run; so does q on a terminal.

              belfry run backup --follow
              belfry run backup --key today    however often it is asked, one run
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Flag(help: "Wait for its end, and show how far it is.")
    var follow = false
    @Flag(help: "Run it at once, whatever the job's overlap policy says of its other runs.")
    var force = false
    @Option(help: ArgumentHelp("Two requests with one key make one run.", valueName: "key"))
    var key: String?
    @Option(help: ArgumentHelp("auto, live, plain, json or quiet.", valueName: "how"))
    var progress: TerminalTraits.Progress = .auto

    func run() throws {
        let client = try common.client()
        let request = RunRequest(force: force ? true : nil, key: key)
        guard follow else {
            let run: WireRun = try client.ask(.runJob(job.name), saying: request)
            StandardOutput.print(
                common.json ? try WireCoding.text(run) : "\(run.name ?? job.name) is \(run.state.rawValue).")
            return
        }
        // The feed first: a run that ends at once must not end unseen.
        let watcher = try LiveWatcher(client, common, progress)
        let run: WireRun = try client.ask(.runJob(job.name), saying: request)
        let ended = try watcher.follow(run)
        throw ExitCode(OutcomeCode.of(ended))
    }
}
