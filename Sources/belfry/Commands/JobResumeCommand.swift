import API
import APIClient
import ArgumentParser

struct JobResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Lets a paused job run again.",
        discussion: """
            What was skipped meanwhile is not caught up.

              belfry job resume backup
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        let job: WireJob = try common.client().ask(.resumeJob(job.name))
        try JobText.confirm("Resumed", job, common)
    }
}
