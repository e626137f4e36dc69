import API
import APIClient
import ArgumentParser
import Host
import Timeline

struct JobHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows what happened to a job's slots, newest first.",
        discussion: """
            Slots that did not run are listed with the reason; consecutive ones share a row.

              belfry job history backup --at 03:00      why it ran or did not run
              belfry job history backup --at 2026-03-29T03:00
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("Show at most this many.", valueName: "n"))
    var limit = 20
    @Option(
        help: ArgumentHelp(
            "Show only the slot at this time; a time of day means its most recent occurrence.",
            valueName: "time"))
    var at: String?

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }

    func run() throws {
        var query = HistoryQuery()
        query.limit = limit
        query.at = try at.map(Self.moment)
        let runs = try common.client().ask(Endpoints.history(job.name, query: query))
        try common.screen.list(runs, asJSON: common.json) { screen in
            screen.print(
                RunText.table(runs, screen),
                empty: at == nil ? "Nothing yet." : "It had no slot then. See: belfry job next \(job.name)")
        }
    }

    /// A time, or the last moment at which the clocks here showed a time of day.
    private static func moment(_ text: String) throws(APIError) -> Moment {
        let (zone, now) = (Zones.local, Moment.now)
        do {
            guard text.count <= 8, text.contains(":") else { return try Moment(iso8601: text, in: zone) }
            for daysBack in 0...1 {
                let day = (now - .seconds(86_400 * daysBack)).iso8601(in: zone).prefix(10)
                let moment = try Moment(iso8601: "\(day)T\(text)", in: zone)
                if moment <= now { return moment }
            }
            return now
        } catch {
            throw APIError(
                .badValue, "--at: \(error.message)", hint: "Write a time such as 2026-03-29T03:00 or 03:00.")
        }
    }
}
