import API
import APIClient
import ArgumentParser

struct RunLogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints the output of a run, byte for byte.",
        discussion: """
            Of a long output the beginning and the end are kept. Each attempt has its own log: without \
            --attempt the newest one is printed, and -f continues with later attempts.

              belfry run logs backup#12 | tail
              belfry run logs backup#12 --attempt 1
              belfry run logs -f backup#13
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument
    @Flag(name: .shortAndLong, help: "Follow the output until the run, or the attempt of --attempt, ends.")
    var follow = false
    @Option(help: ArgumentHelp("Print this attempt's output, 1 for the first.", valueName: "k"))
    var attempt: Int?

    func validate() throws {
        if let attempt, attempt < 1 { throw ValidationError("--attempt takes a number from 1 up") }
    }

    func run() throws {
        try Output.copy(of: target.name, attempt: attempt, from: try common.client(), follow: follow)
    }
}
