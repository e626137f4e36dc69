import API
import APIClient
import ArgumentParser
import Tracking

struct RunRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Repeats a finished run as a new one.",
        discussion: """
              belfry run retry backup#12
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument

    func run() throws {
        let run = try common.client().ask(Endpoints.retryRun(target.name))
        StandardOutput.print(
            common.json ? try WireCoding.text(run) : "\(run.name ?? "") is \(run.state.rawValue).")
    }
}
