import API
import APIClient
import ArgumentParser
import Cron
import Host
import TerminalView
import Timeline

struct ImportOpenClawCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openclaw",
        abstract: "Shows the jobs that an OpenClaw gateway runs by itself, watches them, or takes them over.",
        discussion: """
            Each job is shown with its next time in the gateway and in Belfry. With --apply
            the gateway keeps running them, and Belfry reports what the gateway does not:
            jobs that are overdue, stuck, failing, not delivered, or no longer there.

            A job that is taken over is disabled in the gateway first, and runs here from
            then on; --give-back undoes that. Both need the gateway's approval once.

              belfry import openclaw
              belfry import openclaw --bot opta --apply
              belfry import openclaw --take-over "Morning brief"
              belfry import openclaw --give-back morning-brief
            """)

    @Flag(help: "Watch the gateway's jobs from now on.")
    var apply = false
    @Flag(help: "Stop watching them.")
    var stop = false
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Run these jobs here instead, by their names or ids.", valueName: "job"))
    var takeOver: [String] = []
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Have the gateway run these jobs again.", valueName: "job"))
    var giveBack: [String] = []
    @Flag(name: .shortAndLong, help: "Show each job in full: its notes and next 10 times.")
    var verbose = false
    @Option(help: ArgumentHelp("Show times after this time (default: now).", valueName: "iso"))
    var from: String?
    @Option(
        help: ArgumentHelp("The bot behind the gateway; needed where there are several.", valueName: "bot"),
        completion: Completions.bots)
    var bot: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        let wishes = [apply, stop, !takeOver.isEmpty, !giveBack.isEmpty].count { $0 }
        if wishes > 1 {
            throw ValidationError("--apply, --stop, --take-over and --give-back exclude each other")
        }
    }

    func run() throws {
        let client = try common.client()
        // The gateway may have to be connected first.
        let patient = try Patience.client(for: client.socket, longest: .seconds(120))
        let name = try bot ?? Self.onlyBot(client.ask(Endpoints.bots()))
        let start = try from.map { (text) throws(APIError) in try Zones.moment(text, of: "--from") } ?? .now
        if apply || stop {
            return try show(
                patient.ask(Endpoints.watchGateway(name, body: GatewayWatchRequest(on: apply))), start)
        }
        for id in giveBack {
            try patient.ask(Endpoints.giveBackJob(name, body: GiveBackRequest(id: id)))
            if !common.json { common.screen.print("\(PlainText.oneLine(id)): the gateway runs it again") }
        }
        let gateway = try patient.ask(Endpoints.gateway(name))
        guard !takeOver.isEmpty else { return try show(gateway, start) }
        try take(takeOver.map { wish in try Self.job(wish, of: gateway) }, of: gateway, start, patient)
    }

    /// The one bot that is behind a gateway.
    private static func onlyBot(_ bots: [WireBot]) throws(APIError) -> String {
        let names = bots.filter { $0.backend == "openclaw" }.map(\.name)
        guard let name = names.first, names.count == 1 else {
            throw APIError(
                .badValue,
                names.isEmpty ? "no bot is behind an OpenClaw gateway" : "several bots are behind gateways",
                hint: names.isEmpty
                    ? "Add one: belfry bot add opta --backend openclaw --url ws://127.0.0.1:18789 --key - < TOKEN"
                    : "Name one with --bot: \(names.joined(separator: ", "))")
        }
        return name
    }

    private static func job(_ wish: String, of gateway: WireGateway) throws(APIError) -> WireGatewayJob {
        let found = gateway.jobs.filter { $0.id == wish || $0.name == wish }
        guard let job = found.first, found.count == 1 else {
            throw APIError(
                .noSuchGatewayJob,
                found.isEmpty ? "the gateway has no job \"\(wish)\"" : "several jobs are called \"\(wish)\"",
                hint: found.isEmpty
                    ? NearestName.hint(wish, among: gateway.jobs.map(\.name)) ?? "See: belfry import openclaw"
                    : "Name it by its id: \(found.map(\.id).joined(separator: ", "))")
        }
        return job
    }

    // MARK: Taking over

    private func take(
        _ rows: [WireGatewayJob], of gateway: WireGateway, _ start: Moment, _ client: DaemonClient
    ) throws {
        var maker = OpenClawImport(bot: gateway.bot, start: start)
        var results: [ImportedJob] = []
        for row in rows {
            var job = maker.job(row)
            if job.refusal == nil {
                do throws(APIError) {
                    let request = TakeOverRequest(id: row.id, draft: job.draft(bot: gateway.bot))
                    _ = try client.ask(Endpoints.takeOverJob(gateway.bot, body: request))
                    job.isAdded = true
                } catch {
                    guard error.code.row.exitCode != 3 else { throw error }
                    job.refusal = [error.sentence, error.hint].compactMap(\.self).joined(separator: "; ")
                }
            }
            results.append(job)
        }
        try common.screen.list(results.map(ImportedJob.Shown.init), asJSON: common.json) { screen in
            for (row, result) in zip(rows, results) {
                let outcome =
                    result.isAdded
                    ? "disabled in the gateway, and run here as \(result.name)"
                    : "not taken over: \(result.refusal ?? "")"
                screen.print(PlainText.oneLine("\(row.name): \(outcome)"))
            }
            if let first = results.first(where: \.isAdded) {
                screen.print("Undo it with: belfry import openclaw --give-back \(first.name)")
            }
        }
        if results.contains(where: { !$0.isAdded }) { throw ExitCode(1) }
    }

    // MARK: Showing

    private func show(_ gateway: WireGateway, _ start: Moment) throws {
        if common.json { return try StandardOutput.print(json: Shown(gateway, start)) }
        let screen = common.screen
        var maker = OpenClawImport(bot: gateway.bot, start: start)
        let jobs = gateway.jobs.map { ($0, maker.job($0)) }
        if verbose {
            for (_, job) in jobs { screen.print(job.text + "\n") }
        } else {
            var table = TextTable(["NAME", "TIMES", "NEXT IN THE GATEWAY", "NEXT IN BELFRY", "STATE"])
            for (row, job) in jobs { table.add(Self.cells(row, job, screen)) }
            screen.print(table, empty: "The gateway has no jobs of its own.")
            ImportOptions.printDifferences(of: jobs.map(\.1).filter { $0.refusal == nil }, on: screen)
        }
        screen.print("")
        screen.print(
            gateway.watchedSince.map { "Watched since \(screen.time($0)); --stop ends that." }
                ?? "Not watched; watch them with --apply, or run one here with --take-over NAME.")
    }

    private static func cells(
        _ row: WireGatewayJob, _ job: ImportedJob, _ screen: Screen
    ) -> [TextTable.Cell] {
        let next = row.nextAt.map { screen.time($0) } ?? "-"
        let seconds = Duration.seconds(row.offsetMs / 1000).limitWords
        let delay = row.offsetMs > 0 ? " (its delay: \(seconds))" : ""
        let first = job.refusal == nil ? job.times.first(where: \.isOurs) : nil
        let ours = first.map { screen.time(Timestamp($0.moment)) } ?? "-"
        let name = PlainText.preview(row.name, limit: 30)
        let times = PlainText.preview(job.original, limit: 40)
        let state = PlainText.preview(state(of: row, job), limit: 60)
        return [
            "\(name)", "\(times)", "\(next)\(delay)", "\(ours)",
            TextTable.Cell(state, row.alarms.isEmpty ? .normal : .yellow),
        ]
    }

    private static func state(of row: WireGatewayJob, _ job: ImportedJob) -> String {
        if let name = row.takenAs { return "run here as \(name)" }
        if !row.alarms.isEmpty { return words(row.alarms) }
        if let refusal = job.refusal { return refusal }
        return row.lastStatus.map { "last run: \($0)" } ?? "no run yet"
    }

    private static func words(_ alarms: [String]) -> String {
        alarms.map { $0 == "notDelivered" ? "not delivered" : $0 }.joined(separator: ", ")
    }

    /// The jobs of a gateway in JSON.
    private struct Shown: Encodable {
        struct Job: Encodable {
            var id: String
            var enabled: Bool
            var known: Bool
            var nextAt: Timestamp?
            var offsetMs: Int64
            /// Whether the gateway's next time, without its own delay, is Belfry's; absent: not known.
            var equal: Bool?
            var alarms: [String]
            var takenAs: String?
            var job: ImportedJob.Shown
        }

        var bot: String
        var gateway: String
        var watchedSince: Timestamp?
        var jobs: [Job]

        init(_ gateway: WireGateway, _ start: Moment) {
            (bot, self.gateway, watchedSince) = (gateway.bot, gateway.gateway, gateway.watchedSince)
            var maker = OpenClawImport(bot: gateway.bot, start: start)
            jobs = gateway.jobs.map { row in
                let job = maker.job(row)
                let ours = job.refusal == nil ? job.times.first(where: \.isOurs)?.moment : nil
                let theirs = row.nextAt.map { $0.moment - .milliseconds(row.offsetMs) }
                return Job(
                    id: row.id, enabled: row.enabled, known: row.known, nextAt: row.nextAt,
                    offsetMs: row.offsetMs, equal: ours.flatMap { ours in theirs.map { $0 == ours } },
                    alarms: row.alarms, takenAs: row.takenAs, job: ImportedJob.Shown(job))
            }
        }
    }
}
