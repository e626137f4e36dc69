import ArgumentParser

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now; shows, ends and repeats runs.",
        usage: """
            belfry run <job> [--follow] [--force] [--key <key>]
            belfry run show|logs|cancel|retry <job#n>
            """,
        discussion: """
            A job's name alone runs it now. With --follow it waits for the end and shows how far it is; with \
            --force it runs although the last run has not ended; of two requests with one --key only the \
            first makes a run.

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
