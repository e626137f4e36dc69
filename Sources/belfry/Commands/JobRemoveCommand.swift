import API
import APIClient
import ArgumentParser

struct JobRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a job made by job add; its runs are kept.",
        discussion: """
            Jobs from a file must be removed from the file (exit 5).

              belfry job rm backup
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        try common.client().ask(Endpoints.removeJob(job.name))
        if !common.json { StandardOutput.print("Removed \(job.name).") }
    }
}
