import ArgumentParser

struct JobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job", abstract: "Adds, changes, shows and pauses jobs.",
        subcommands: [
            JobAddCommand.self, JobEditCommand.self, JobListCommand.self, JobShowCommand.self,
            JobRemoveCommand.self, JobPauseCommand.self, JobResumeCommand.self, JobNextCommand.self,
            JobHistoryCommand.self,
        ])
}

/// The name of a job, completed by the shell.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job's name.", valueName: "job"), completion: Completions.jobs)
    var name: String
}
