import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the drawing of a job's history` {
    private func chart(_ entries: [(RunState, Int?)]) -> HistoryChart {
        HistoryChart(entries.map { HistoryChart.Entry(state: $0, took: $1.map { .seconds($0) }) })
    }

    @Test func `shows how long runs took and how they ended, the oldest first`() {
        let history = chart([
            (.completed, 10), (.completed, 12), (.failed, 80), (.missed, nil), (.completed, 11),
        ])
        #expect(
            history.lines(columns: 100, traits: plainColors).map { text($0) } == [
                "took      ▂▂█ ▂  10 s to 1 min 20 s, half of them within 11 s",
                "ended     ✓✓✗–✓  3 completed, 1 failed, 1 missed",
            ])
        #expect(
            history.lines(columns: 100, traits: asciiOnly).map { text($0) }[0].hasPrefix("took      ..# ."))
    }

    @Test func `is left out where there is nothing to compare`() {
        let two = chart([(.completed, 1), (.completed, 2), (.missed, nil)])
        #expect(two.lines(columns: 80, traits: plainColors).isEmpty)
    }

    @Test func `leaves out the oldest where the terminal is narrow, and never touches its last column`() {
        let history = chart((1...500).map { ($0 % 7 == 0 ? .failed : .completed, $0) })
        for columns in 1...200 {
            for traits in [plainColors, asciiOnly, colorful] {
                let lines = history.lines(columns: columns, traits: traits)
                #expect(lines.allSatisfy { $0.cells < columns }, "\(columns) columns")
            }
        }
        let newest = history.lines(columns: 30, traits: plainColors).first.map { text($0) }
        #expect(newest?.hasSuffix("█") == true)
    }

    @Test func `shows runs that took no time at all`() {
        let lines = chart([(.completed, 0), (.completed, 0), (.completed, 0)])
            .lines(columns: 80, traits: plainColors)
        #expect(lines.first.map { text($0) } == "took      ▁▁▁  each under 1 s")
    }
}
