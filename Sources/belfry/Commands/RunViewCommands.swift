import API
import APIClient
import ArgumentParser
import Host
import TerminalView
import Timeline
import Tracking

struct RunsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs", abstract: "Lists runs, newest first.",
        discussion: """
              belfry runs --state failed --since 24h
              belfry runs backup --limit 100 --json
            """)

    @Argument(help: "Only runs of this job.", completion: Completions.jobs)
    var job: String?
    @Option(
        help: ArgumentHelp("Only runs in this state.", valueName: "state"),
        completion: .list(RunState.allCases.map(\.rawValue)))
    var state: [String] = []
    @OptionGroup var listing: ListOptions
    @Option(
        help: ArgumentHelp("Only runs since this time, or within a duration such as 24h.", valueName: "time")
    )
    var since: String?
    @OptionGroup var common: CommonOptions

    func run() throws {
        var query = RunsQuery()
        query.job = job
        query.states = try RunState.read(state, parameter: "state")
        query.limit = listing.limit
        if let since {
            query.since = try SinceArgument.moment(since)
        }
        let runs = try common.client().ask(Endpoints.runs(query: query))
        try common.screen.list(runs, asJSON: common.json) { screen in
            screen.print(RunText.table(runs, screen), empty: "No runs.")
        }
    }
}

/// The value of `--since`.
enum SinceArgument {
    /// The moment that a time names, or a duration before now.
    static func moment(_ text: String) throws -> Moment {
        if let back = try? Duration(text: text) { return .now - back }
        return try Zones.moment(
            text, of: "--since", example: "a time such as 2026-03-29T03:00, or a duration such as 24h")
    }
}

struct RunShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a run and its attempts.",
        discussion: """
              belfry run show backup
              belfry run show backup#12 --json | jq .live.timeRemaining
            """)

    @OptionGroup var target: RunArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        let run = try client.ask(Endpoints.run(target.name))
        if common.json { return try StandardOutput.print(json: run) }
        let screen = common.screen
        screen.field("run", run.name)
        screen.print(
            screen.paint("state     ", .dim) + screen.paint(RunText.state(run), StateMark(run.state).color))
        // What the state says already is not repeated.
        screen.field("why", RunText.why(run).flatMap { RunText.state(run).hasSuffix($0) ? nil : $0 })
        screen.field("bot", run.bot)
        screen.field("kind", run.kind)
        showTimes(of: run, screen)
        showProgress(of: run, screen)
        screen.field("cpu", run.cpuMs.map { "\($0) ms" })
        screen.field("memory", run.maxRssKb.map { "\($0) KiB" })
        screen.field("usage", run.usage.map(BotText.usage))
        showOutput(of: run, screen, client)
        for call in (run.calls ?? []).suffix(Self.callsShown) { screen.field("tool", RunText.call(call)) }
        for attempt in run.attempts ?? [] where run.attempts?.count ?? 0 > 1 {
            let times = "\(screen.fullTime(attempt.startedAt)) - \(screen.fullTime(attempt.endedAt))"
            screen.field("attempt \(attempt.n)", "\(RunText.state(attempt)), \(times)")
        }
    }

    /// How many calls of tools are shown; --json has all.
    private static let callsShown = 50

    private func showTimes(of run: WireRun, _ screen: Screen) {
        screen.field("slot", run.slot.map { screen.fullTime($0) })
        screen.field("not until", run.notBefore.map { screen.fullTime($0) })
        screen.field("queued", run.queuedAt.map { screen.fullTime($0) })
        screen.field("started", run.startedAt.map { screen.fullTime($0) })
        screen.field("ended", run.endedAt.map { screen.fullTime($0) })
        screen.field(
            run.state.isEnded ? "took" : "so far", run.startedAt == nil ? nil : RunText.took(run, screen))
        screen.field("finish", RunText.finish(run, screen))
        screen.field("late", run.latenessMs.map(RunText.delay))
        screen.field("waited", run.queueDelayMs.map(RunText.delay))
    }

    private func showProgress(of run: WireRun, _ screen: Screen) {
        if let live = run.live, !run.state.isEnded {
            let part = live.progress.map { "\(Int($0 * 100))%" }
            let parts = [part, live.phase, live.message].compactMap { $0 }
            screen.field("progress", parts.isEmpty ? nil : parts.joined(separator: "  "))
        }
        for line in RunText.parts(run) { screen.print("".padded(to: 10) + line) }
    }

    /// What the run printed, what its bot replied, and what it left running.
    private func showOutput(of run: WireRun, _ screen: Screen, _ client: DaemonClient) {
        screen.field("output", run.outputBytes.map { "\($0) bytes: belfry run logs \(run.name ?? "")" })
        if run.state.isEnded, run.live?.message == HiddenTexts.reason {
            screen.field("note", HiddenTexts.reason)
        }
        for line in RunText.lastLines(run) { screen.print(screen.paint("".padded(to: 10) + line, .dim)) }
        // The message of a run has its id; most have none.
        if run.state == .completed, let id = run.id, let message = try? client.ask(Endpoints.message(id)) {
            screen.field("reply", "belfry messages show \(message.id)", asIs: true)
            for line in MessageText.lines(of: message, on: screen) { screen.print("".padded(to: 10) + line) }
        }
        screen.field(
            "left",
            run.survivors.map { left in
                left.map { "\($0.name) (\($0.pid))" }.joined(separator: ", ") + " still ran at its end"
            })
    }
}
