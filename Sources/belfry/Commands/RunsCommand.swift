import API
import APIClient
import ArgumentParser
import Host
import Timeline
import Tracking

struct RunsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs", abstract: "Lists runs, newest first.",
        discussion: """
              belfry runs --state failed --since 24h
              belfry runs backup --limit 100 --json
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Only runs of this job.", completion: Completions.jobs)
    var job: String?
    @Option(
        help: ArgumentHelp("Only runs in this state.", valueName: "state"),
        completion: .list(RunState.allCases.map(\.rawValue)))
    var state: [String] = []
    @Option(help: ArgumentHelp("Show at most this many.", valueName: "n"))
    var limit = 20
    @Option(
        help: ArgumentHelp("Only runs since this time, or within a duration such as 24h.", valueName: "time")
    )
    var since: String?

    func run() throws {
        guard limit > 0 else { throw APIError(.badValue, "--limit is a number from 1 up") }
        var query = RunsQuery()
        query.job = job
        query.states = try RunState.read(state, parameter: "state")
        query.limit = limit
        query.since = try since.map(Self.moment)
        let runs = try common.client().ask(Endpoints.runs(query: query))
        try common.screen.list(runs, asJSON: common.json) { screen in
            screen.print(RunText.table(runs, screen), empty: "No runs.")
        }
    }

    /// A time with an offset, a local time, or a duration back from now.
    private static func moment(_ text: String) throws(APIError) -> Moment {
        if let back = try? Duration(text: text) { return Moment.now - back }
        do {
            return try Moment(iso8601: text, in: Zones.local)
        } catch {
            throw APIError(
                .badValue, "--since: \(error.message)",
                hint: "Write a time such as 2026-03-29T03:00 or a duration such as 24h.")
        }
    }
}
