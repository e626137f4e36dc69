import ArgumentParser

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now; shows, ends and repeats runs.",
        usage: """
            belfry run <job> [--follow] [--force] [--key <key>]
            belfry run show|logs|cancel|retry <job#n>
            """,
        discussion: """
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
