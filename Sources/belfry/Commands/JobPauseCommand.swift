import API
import APIClient
import ArgumentParser

struct JobPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses a job: its slots are skipped until it is resumed.",
        discussion: """
            Active runs continue. The job stays paused across restarts, reloads and edits.

              belfry job pause backup --note "until the new disk is in"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("The reason, shown with the job.", valueName: "text"))
    var note: String?

    func run() throws {
        let job = try common.client().ask(
            Endpoints.pauseJob(job.name, body: PauseRequest(note: note)))
        try JobText.confirm("Paused", job, common)
    }
}
