import API
import APIClient
import ArgumentParser
import TerminalView

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Shows live progress of all runs until q or Ctrl-C.",
        discussion: """
            Shows one row for each run on a terminal, plain lines elsewhere; with --json one live state per line. \
            For a single run it also shows the end and exits as run --follow does. On a terminal q quits: with 0, \
            or with 130 when the run it was to wait for has not ended.

              belfry watch
              belfry watch backup#12 --json
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: ArgumentHelp("Show only this run, until it ends.", valueName: "job#n"))
    var target: RunName?
    @Option(help: ArgumentHelp("How to show progress: auto, live, plain, json or quiet.", valueName: "how"))
    var progress: TerminalTraits.Progress = .auto

    func run() throws {
        let client = try common.client()
        let watcher = try LiveWatcher(client, common, progress)
        guard let run = target else {
            let isQuiet = common.json || progress == .json || progress == .quiet
            if !isQuiet, try client.ask(Endpoints.live()).isEmpty {
                let intro = "No run is active; runs are shown here when they start. Ctrl-C ends."
                for line in LiveScreen.wrapped(intro) { StandardError.print(line) }
            }
            return try watcher.watch()
        }
        let known = try client.ask(Endpoints.run(run))
        throw ExitCode(OutcomeCode.of(try watcher.follow(known)))
    }
}
