import API
import TerminalView
import Timeline
import Tracking

/// Runs in words.
enum RunText {
    /// `failed: exit code 3`, `missed: older than the job catches up`, `completed`.
    static func state(_ run: WireRun) -> String {
        var text = run.state == .timedOut ? "timed out" : run.state.rawValue
        if let count = run.count, count > 1 { text += " x\(count)" }
        if let detail = detail(run) { text += ": \(detail)" }
        return text
    }

    /// What the state alone does not say.
    static func detail(_ run: WireRun) -> String? {
        if run.state == .completed { return nil }
        if run.reason == .exitCode, let code = run.exitCode { return "exit code \(code)" }
        if run.reason == .signal, let signal = run.signal { return "signal \(signal)" }
        let isSaid = run.state == .timedOut || run.reason?.rawValue == run.state.rawValue
        return isSaid ? nil : run.reason?.words
    }

    /// From the start to the end, or to now.
    static func took(_ run: WireRun, _ screen: Screen) -> String {
        guard let start = run.startedAt?.moment else { return "-" }
        let end = run.endedAt?.moment ?? screen.now
        return end - start < .seconds(1) ? "<1s" : DisplayDuration.text(end - start)
    }

    static func table(_ runs: [WireRun], _ screen: Screen) -> TextTable {
        var table = TextTable(["RUN", "STATE", "SLOT", "STARTED", "TOOK", "BOT"], rightAligned: [4])
        for run in runs {
            let mark = StateMark(run.state)
            let progress = run.live?.progress.map { " \(Int($0 * 100))%" } ?? ""
            let text = state(run) + (run.state.isEnded ? "" : progress)
            let slots =
                run.lastSlot.map { "\(screen.time(run.slot)) - \(screen.time($0))" } ?? screen.time(run.slot)
            table.add([
                "\(run.name ?? run.job)", TextTable.Cell(text, mark.color), "\(slots)",
                "\(screen.time(run.startedAt))", "\(took(run, screen))", "\(run.bot ?? "-")",
            ])
        }
        return table
    }
}
