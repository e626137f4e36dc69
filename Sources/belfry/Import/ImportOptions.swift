import API
import APIClient
import ArgumentParser
import Host
import Timeline

/// What every import takes.
struct ImportOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(help: "Add the jobs; without --apply they are only shown.")
    var apply = false

    @Option(help: ArgumentHelp("Show times after this time (default: now).", valueName: "iso"))
    var from: String?

    @Option(
        help: ArgumentHelp("The bot that the jobs belong to.", valueName: "bot"), completion: Completions.bots
    )
    var bot: String?

    /// Where the shown times begin.
    func start() throws(APIError) -> Moment {
        try from.map { (text) throws(APIError) in try Zones.moment(text, of: "--from") } ?? .now
    }

    /// Shows the jobs and, where that was asked for, adds them; `disable` says what to do with the originals.
    ///
    /// - Throws: ``ExitCode`` 1 when a job of `--apply` was refused or could not be added.
    func finish(_ jobs: [ImportedJob], disable: ([ImportedJob]) -> String) throws {
        guard apply else {
            try common.screen.list(jobs, asJSON: common.json) { screen in
                for job in jobs { screen.print(job.text + "\n") }
                let good = jobs.filter { $0.refusal == nil }.count
                screen.print("\(good) of \(jobs.count) can be added; add them with --apply.")
            }
            return
        }
        let client = try common.client()
        var results: [ImportedJob] = []
        for var job in jobs {
            if job.refusal == nil {
                do throws(APIError) {
                    _ = try client.ask(Endpoints.addJob(body: job.draft(bot: bot)))
                    job.isAdded = true
                } catch {
                    // Without a daemon none of the others can be added either.
                    guard error.code.row.exitCode != 3 else { throw error }
                    job.refusal = error.sentence
                }
            }
            results.append(job)
        }
        let added = results.filter(\.isAdded)
        try common.screen.list(results, asJSON: common.json) { screen in
            for result in results {
                let outcome = result.isAdded ? "added" : "not added: \(result.refusal ?? "")"
                screen.print("\(result.name) (\(result.place)): \(outcome)")
            }
            if !added.isEmpty { screen.print(disable(added)) }
        }
        if added.count < jobs.count { throw ExitCode(1) }
    }
}
