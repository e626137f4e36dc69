import API
import APIClient
import ArgumentParser

struct JobResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resumes a paused job.",
        discussion: """
            Slots skipped during the pause are not caught up.

              belfry job resume backup
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        let job = try common.client().ask(Endpoints.resumeJob(job.name))
        try JobText.confirm("Resumed", job, common)
    }
}
