import API
import APIClient
import ArgumentParser
import Host
import Ledger
import TerminalView
import Timeline
import Tracking

struct JobListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the jobs.",
        discussion: """
              belfry job list
              belfry job list --json | jq -r '.[] | select(.paused) | .name'
            """, aliases: ["ls"])

    @OptionGroup var common: CommonOptions

    func run() throws { try JobText.list(common) }
}

/// The same under a name that people type.
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "Lists the jobs, as belfry job list does.",
        discussion: """
              belfry jobs
            """)

    @OptionGroup var common: CommonOptions

    func run() throws { try JobText.list(common) }
}

struct JobShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a job.",
        discussion: """
              belfry job show backup
              belfry job show backup --json | jq .policies
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let job = try common.client().ask(Endpoints.job(job.name))
        if common.json { return try StandardOutput.print(json: job) }
        let screen = common.screen
        screen.field("job", job.name)
        screen.field("bot", job.bot)
        screen.field("does", JobText.action(job), asIs: true)
        screen.field("expects", job.expect?.joined(separator: " "))
        screen.field("headers", job.headers?.joined(separator: " "), asIs: true)
        screen.field("in", job.cwd)
        screen.field("env", job.env?.joined(separator: " "), asIs: true)
        screen.field("schedule", JobText.schedule(job.schedule))
        screen.field("phrase", job.schedule.phrase)
        screen.field("", job.schedule.words)
        screen.field("note", job.schedule.note)
        screen.field("note", job.schedule.clockChanges)
        if case .since(let since, let note) = job.paused {
            screen.field("paused", "since \(screen.fullTime(since))" + (note.map { ": \($0)" } ?? ""))
        }
        screen.field("next", job.nextAt.map { "\(screen.fullTime($0, of: job)), \(screen.distance($0))" })
        screen.field(
            "last",
            job.lastRun.map {
                "\($0.name ?? job.name) \(RunText.state($0)), \(screen.fullTime($0.endedAt ?? $0.startedAt, of: job))"
            })
        screen.field("policies", JobFields.standard.summary(job.policies.values))
        screen.field("origin", job.at ?? (job.origin == "import" ? "belfry import" : "belfry job add"))
        screen.field("revision", "\(job.revision)")
    }
}

struct JobNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when a job runs next.",
        discussion: """
            Times are in the schedule's zone, with offsets. Times that a clock change moves, repeats or skips are \
            marked.

              belfry job next backup -n 10
            """)

    @OptionGroup var job: JobArgument
    @Option(name: .customShort("n"), help: ArgumentHelp("How many slots to show.", valueName: "count"))
    var count = 5
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
    }

    func run() throws {
        let client = try common.client()
        var query = NextSlotsQuery()
        query.count = count
        query.notes = !common.json
        let answer = try client.ask(Endpoints.nextSlots(job.name, query: query))
        if common.json { return try StandardOutput.print(json: answer) }
        let slots = if case .slots(let slots) = answer { slots } else { [WireSlot]() }
        let screen = common.screen
        let job = try client.ask(Endpoints.job(job.name))
        let zone = screen.rules(of: job)
        for slot in slots {
            let distance = slot.isSkipped ? "" : screen.distance(slot.at)
            let line = [distance, slot.note].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
            screen.print("\(screen.fullTime(slot.at, in: zone))  \(screen.paint(line, .dim))")
        }
        if slots.isEmpty {
            let words = job.schedule.words.map { " (\($0))" } ?? ""
            screen.print(screen.paint("No upcoming slot\(words).", .dim))
        }
        if let changes = job.schedule.clockChanges { screen.print(screen.paint("\(changes).", .dim)) }
        if job.paused.isPaused { screen.print(screen.paint("It is paused: none of them runs.", .dim)) }
        if let offset = job.policies["spreadOffsetMs"]?.int, !slots.isEmpty {
            let text = Duration.milliseconds(offset).text
            screen.print(screen.paint("Each starts \(text) later, this job's part of its spread.", .dim))
        }
    }
}

struct JobHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows what happened to a job's slots, newest first.",
        discussion: """
            Slots that did not run are listed with the reason; consecutive ones share a row. On a terminal two lines \
            above them draw how long the runs took and how they ended, the oldest first.

              belfry job history backup -n 60
              belfry job history backup --at 03:00      why it ran or did not run
              belfry job history backup --at 2026-03-29T03:00
              belfry job history backup --profile       which phase got slow
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var listing: ListOptions
    @Option(
        help: ArgumentHelp(
            "Show only the slot at this time; a time of day means its most recent occurrence.",
            valueName: "time"))
    var at: String?
    @Flag(help: "Compare the last completed run with those before it, phase by phase.")
    var profile = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if profile, at != nil { throw ValidationError("--profile is about all runs; leave --at out") }
    }

    func run() throws {
        guard !profile else { return try showProfile() }
        var query = HistoryQuery()
        query.limit = listing.limit
        query.at = try at.map(Self.moment)
        let runs = try common.client().ask(Endpoints.history(job.name, query: query))
        try common.screen.list(runs, asJSON: common.json) { screen in
            if at == nil { Self.draw(runs, screen) }
            screen.print(
                RunText.table(runs, screen),
                empty: at == nil ? "Nothing yet." : "It had no slot then. See: belfry job next \(job.name)")
        }
    }

    private func showProfile() throws {
        let profile = try common.client().ask(Endpoints.profile(job.name))
        if common.json { return try StandardOutput.print(json: profile) }
        let screen = common.screen
        guard let usual = profile.usualMs, let last = profile.lastMs else {
            let count = profile.runs == 1 ? "1 completed run is" : "\(profile.runs) completed runs are"
            return screen.print(screen.paint("\(count) known; 4 are needed to compare.", .dim))
        }
        func words(_ milliseconds: Int64) -> String { Duration.milliseconds(milliseconds).words }
        var table = TextTable(["PHASE", "USUALLY", "LAST RUN", ""])
        for part in profile.parts {
            let isSlow = part.name == profile.slow
            let factor = Double(part.lastMs) / Double(max(1, part.usualMs))
            let note = isSlow ? "\((factor * 10).rounded() / 10) times as long" : ""
            table.add([
                TextTable.Cell(part.name, isSlow ? .yellow : .normal), .init(words(part.usualMs)),
                .init(words(part.lastMs)), TextTable.Cell(note, .yellow),
            ])
        }
        table.add([.init("all"), .init(words(usual)), .init(words(last)), ""])
        screen.print(table, empty: "")
        if let slow = profile.parts.first(where: { $0.name == profile.slow }) {
            let name = PlainText.oneLine(slow.name)
            screen.print(
                "\"\(name)\" got slow: \(words(slow.lastMs)) in the last run, usually \(words(slow.usualMs))."
            )
        } else if profile.parts.isEmpty {
            screen.print(screen.paint("Its runs report neither phases nor progress.", .dim))
        }
    }

    /// Draws how long the runs took and how they ended, on a terminal.
    private static func draw(_ runs: [WireRun], _ screen: Screen) {
        guard let columns = screen.columns else { return }
        let entries = runs.reversed().map { run in
            let took = run.startedAt.map { (run.endedAt?.moment ?? screen.now) - $0.moment }
            return HistoryChart.Entry(state: run.state, took: took)
        }
        for line in HistoryChart(entries).lines(columns: columns, traits: screen.traits) {
            screen.print(String(decoding: line.bytes, as: UTF8.self))
        }
    }

    /// A time, or the last moment at which the clocks here showed a time of day.
    private static func moment(_ text: String) throws(APIError) -> Moment {
        let (zone, now) = (Zones.local, Moment.now)
        func read(_ text: String) throws(APIError) -> Moment {
            try Zones.moment(text, of: "--at", in: zone, example: "a time such as 2026-03-29T03:00 or 03:00")
        }
        guard text.count <= 8, text.contains(":") else { return try read(text) }
        for daysBack in 0...1 {
            let moment = try read(
                "\((now - .seconds(86_400 * daysBack)).iso8601(in: zone).prefix(10))T\(text)")
            if moment <= now { return moment }
        }
        return now
    }
}
