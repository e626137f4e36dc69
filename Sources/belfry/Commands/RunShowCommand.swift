import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

struct RunShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a run and its attempts.",
        discussion: """
              belfry run show backup#12
              belfry run show backup#12 --json | jq .live.timeRemaining
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var target: RunArgument

    func run() throws {
        let run = try common.client().ask(Endpoints.run(target.name))
        if common.json {
            StandardOutput.print(try WireCoding.text(run))
            return
        }
        let screen = common.screen
        func add(_ name: String, _ text: String?) {
            guard let text else { return }
            let label = name.padded(to: max(10, name.count + 1))
            screen.print(screen.paint(label, .dim) + PlainText.oneLine(text))
        }
        add("run", run.name)
        screen.print(
            screen.paint("state     ", .dim) + screen.paint(RunText.state(run), StateMark(run.state).color))
        add("why", RunText.why(run))
        add("bot", run.bot)
        add("kind", run.kind)
        add("slot", run.slot.map(screen.time))
        add("not until", run.notBefore.map(screen.time))
        add("queued", run.queuedAt.map(screen.time))
        add("started", run.startedAt.map(screen.time))
        add("ended", run.endedAt.map(screen.time))
        add("took", run.startedAt == nil ? nil : RunText.took(run, screen))
        add("late", run.latenessMs.map { "\($0) ms" })
        add("waited", run.queueDelayMs.map { "\($0) ms" })
        if let live = run.live, !run.state.isEnded {
            let part = live.progress.map { "\(Int($0 * 100))%" }
            let parts = [part, live.phase, live.message].compactMap { $0 }
            add("progress", parts.isEmpty ? nil : parts.joined(separator: "  "))
        }
        add("cpu", run.cpuMs.map { "\($0) ms" })
        add("memory", run.maxRssKb.map { "\($0) KiB" })
        add("output", run.outputBytes.map { "\($0) bytes: belfry run logs \(run.name ?? "")" })
        add(
            "left",
            run.survivors.map { left in
                left.map { "\($0.name) (\($0.pid))" }.joined(separator: ", ") + " still ran at its end"
            })
        for attempt in run.attempts ?? [] where run.attempts?.count ?? 0 > 1 {
            let times = "\(screen.time(attempt.startedAt)) - \(screen.time(attempt.endedAt))"
            add("attempt \(attempt.n)", "\(RunText.state(attempt)), \(times)")
        }
    }
}
