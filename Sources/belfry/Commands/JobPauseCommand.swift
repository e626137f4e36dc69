import API
import APIClient
import ArgumentParser

struct JobPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Holds a job still: its slots are skipped until it is resumed.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("Why, for whoever wonders.", valueName: "text"))
    var note: String?

    func run() throws {
        let job: WireJob = try common.client().ask(.pauseJob(job.name), saying: PauseRequest(note: note))
        try JobText.confirm("Paused", job, common)
    }
}
