import API
import APIClient
import ArgumentParser

struct RunLogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints what a run printed, byte for byte.",
        discussion: """
            Of a long output it has the beginning and the end.

              belfry run logs backup#12 | tail
              belfry run logs -f backup#13
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument
    @Flag(name: .shortAndLong, help: "Go on until the run ends.")
    var follow = false

    func run() throws {
        try Output.copy(of: target.name, from: try common.client(), follow: follow)
    }
}
