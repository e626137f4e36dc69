import API
import APIClient
import ArgumentParser

struct RunCancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Ends a run and all its processes: first TERM, then KILL.",
        discussion: """
            A waiting run is withdrawn. KILL follows after the job's grace.

              belfry run cancel backup#12
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument

    func run() throws {
        let run = try common.client().ask(Endpoints.cancelRun(target.name))
        StandardOutput.print(common.json ? try WireCoding.text(run) : "Asked \(target.name) to end.")
    }
}
