import TerminalView
import Timeline
import Tracking

/// Prints what a frame of 10 rows costs, when every row changed and when none did.
enum RenderBench {
    private static let rounds = 20_000

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) {
        let traits = TerminalTraits(
            progress: .live, color: .always, isTerminal: true,
            environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
        print("render: 10 rows, 120x60, best of 5 rounds of \(rounds) frames")
        for (label, changes) in [("every row changed", true), ("nothing changed", false)] {
            let (microseconds, bytes) = best(traits, changes: changes)
            report(
                label, "\(microseconds.short) us a frame, \(bytes) bytes", limit: "20 us",
                isKept: microseconds <= 20)
        }
    }

    private static func best(_ traits: TerminalTraits, changes: Bool) -> (Double, Int) {
        var best = Double.infinity
        var bytes = 0
        for _ in 0..<5 {
            var painter = TerminalPainter(traits)
            var total = 0
            let clock = ContinuousClock()
            let states = (0..<(changes ? 100 : 1)).map { round in (0..<10).map { live($0, round: round) } }
            let took = clock.measure {
                for round in 0..<rounds {
                    let now = Moment(seconds: 1_000) + .milliseconds(changes ? round % 100 * 100 : 0)
                    total += frame(&painter, states[round % states.count], at: now, traits: traits)
                }
            }
            best = min(best, Double(took.microseconds) / Double(rounds))
            bytes = total / rounds
        }
        return (best, bytes)
    }

    /// One frame, from live states to bytes.
    private static func frame(
        _ painter: inout TerminalPainter, _ states: [LiveState], at now: Moment, traits: TerminalTraits
    ) -> Int {
        let rows = states.map { LiveRow($0, at: now, zone: .utc) }
        let size = TerminalSize(columns: 120, rows: 60)
        return painter.paint(Frame(rows, size: size, traits: traits), size: size).count
    }

    private static func live(_ index: Int, round: Int) -> LiveState {
        let task = LiveTask(
            id: "\(index)", botID: "ops", run: "nightly-backup-\(index)#7", name: "backup", botName: "Ops")
        var live = LiveState(
            task: task, attempt: 1, seq: Int64(round), state: .running, updatedAt: Moment(seconds: 1_000))
        live.startedAt = Moment(seconds: 900)
        live.progress = Double(round) / 100
        live.phase = "copying"
        live.message = "file \(round) of 20000 in /srv/data/archive"
        live.finish = FinishTime(at: Moment(seconds: 4_000) + .seconds(round))
        return live
    }
}
