import API
import APIClient
import ArgumentParser

struct JobHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Lists what became of a job's slots, newest first.",
        discussion: "Slots that did not run are listed with the reason; consecutive ones share a row.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 20

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }

    func run() throws {
        var query = Query()
        query["limit"] = String(limit)
        let runs: [WireRun] = try common.client().ask(.history(job.name), query: query)
        try common.screen.list(runs, asJSON: common.json) { screen in
            screen.print(RunText.table(runs, screen), empty: "Nothing yet.")
        }
    }
}
