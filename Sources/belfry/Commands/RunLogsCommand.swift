import API
import APIClient
import ArgumentParser

struct RunLogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints what a run printed, byte for byte.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument
    @Flag(name: .shortAndLong, help: "Go on until the run ends.")
    var follow = false

    func run() throws {
        try Output.copy(of: target.name, from: try common.client(), follow: follow)
    }
}
