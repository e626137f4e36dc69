import API
import ArgumentParser

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a job now; shows, cancels and repeats runs.",
        usage: """
            belfry run <job> [--follow] [--force] [--key <key>]
            belfry run show|logs|cancel|retry <job#n>
            """,
        discussion: """
            belfry run JOB starts the job now. With --follow it waits for the end and shows progress. With \
            --force it starts even if the previous run is still active. Requests with the same --key start \
            one run.

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
