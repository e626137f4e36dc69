import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `plain lines` {
    private let traits = TerminalTraits(isTerminal: false, environment: ["LANG": "C.UTF-8"])

    @Test func `show the start, each 10 %, each phase and the end`() {
        var printer = PlainPrinter(traits, zone: .utc)
        var lines: [String] = []
        var seq: Int64 = 0
        func say(_ second: Double, _ state: RunState, _ progress: Double? = nil, _ phase: String? = nil) {
            seq += 1
            let state = live("backup#7", state, progress: progress, phase: phase, seq: seq, updatedAt: second)
            if let line = printer.line(for: state, at: at(second)) { lines.append(line) }
        }
        say(0, .running)
        for percent in 1...25 { say(Double(percent), .running, Double(percent) / 100) }
        say(26, .running, 0.01, "verify")
        say(30, .blocked, 0.05, "verify")
        say(40, .completed, 1, "verify")
        #expect(
            lines == [
                "1970-01-01T00:00:00+00:00 backup#7 running", "1970-01-01T00:00:10+00:00 backup#7 10%",
                "1970-01-01T00:00:20+00:00 backup#7 20%", "1970-01-01T00:00:26+00:00 backup#7 1%, verify",
                "1970-01-01T00:00:30+00:00 backup#7 blocked, waits for an answer",
                "1970-01-01T00:00:40+00:00 backup#7 completed in 40 s",
            ])
    }

    @Test func `show a slow run once a minute`() {
        var printer = PlainPrinter(traits, zone: .utc)
        var seconds: [Int] = []
        for second in 0...180 {
            let state = live("a#1", progress: 0.5, message: "\(second)", seq: Int64(second), updatedAt: 0)
            if printer.line(for: state, at: at(Double(second))) != nil { seconds.append(second) }
        }
        #expect(seconds == [0, 60, 120, 180])
    }

    @Test func `show once when it is first known how long a run still needs`() {
        var printer = PlainPrinter(traits, zone: .utc)
        var lines: [String?] = []
        for second in 0...30 {
            var state = live("a#1", seq: Int64(second), updatedAt: 0)
            // Unknown, known, unknown, known again.
            if second % 10 > 4 { state.finish = FinishTime(at: at(60), low: at(59), high: at(61)) }
            lines.append(printer.line(for: state, at: at(Double(second))))
        }
        #expect(
            lines.compactMap(\.self) == [
                "1970-01-01T00:00:00+00:00 a#1 running",
                "1970-01-01T00:00:05+00:00 a#1 running, about 55 s left",
            ])
    }

    @Test func `show an end once, and nothing that is older than what was shown`() {
        var printer = PlainPrinter(traits, zone: .utc)
        let ended = live("a#1", .failed, seq: 5, updatedAt: 9)
        #expect(printer.line(for: ended, at: at(9)) == "1970-01-01T00:00:09+00:00 a#1 failed after 9 s")
        #expect(printer.line(for: ended, at: at(10)) == nil)
        #expect(printer.line(for: live("a#1", seq: 4), at: at(10)) == nil)
    }

    @Test func `show an end with what is known beyond its reason`() {
        var printer = PlainPrinter(traits, zone: .utc)
        let line = printer.line(for: live("a#1", .failed, updatedAt: 9), at: at(9), detail: "exit code 3")
        #expect(line == "1970-01-01T00:00:09+00:00 a#1 failed after 9 s: exit code 3")
    }

    @Test func `hold no carriage return, escape or line feed`() {
        var printer = PlainPrinter(traits, zone: .utc)
        let evil = live("a\r#1", phase: "p\u{1B}[2J", message: "x\ny")
        let line = printer.line(for: evil, at: at(0)) ?? ""
        #expect(!line.isEmpty && line.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test func `for a screen reader say every half minute what is still at work`() {
        let reader = TerminalTraits(
            isTerminal: true, environment: ["TERM": "xterm", "ACCESSIBLE": "1", "LANG": "C.UTF-8"])
        #expect(reader.progress == .plain)
        var printer = PlainPrinter(reader, zone: .utc)
        var run = live("backup#7", progress: 0.42)
        run.finish = FinishTime(at: at(200))
        _ = printer.line(for: run, at: at(0))
        #expect(printer.linesDue(at: at(29)).isEmpty)
        #expect(printer.linesDue(at: at(30)) == ["still working: backup#7, 42%, about 3 minutes left"])
        #expect(printer.linesDue(at: at(31)).isEmpty)
        _ = printer.line(for: live("backup#7", .completed, seq: 2), at: at(40))
        #expect(printer.linesDue(at: at(100)).isEmpty)
    }

    @Test func `for everybody else are not repeated`() {
        var printer = PlainPrinter(traits, zone: .utc)
        _ = printer.line(for: live("a#1"), at: at(0))
        #expect(printer.linesDue(at: at(1000)).isEmpty)
    }
}

@Suite struct `the words for a finish time` {
    private func run(
        _ finish: Double?, low: Double? = nil, high: Double? = nil, usual: Duration? = nil,
        state: RunState = .running
    ) -> LiveState {
        var run = live("a#1", state)
        run.startedAt = at(0)
        run.finish = finish.map { FinishTime(at: at($0), low: low.map(at), high: high.map(at)) }
        run.usual = usual
        return run
    }

    private func time(_ run: LiveState, at now: Double) -> String? {
        FinishWording.time(of: run, at: at(now), zone: .utc)
    }

    @Test func `come after the time so far`() {
        #expect(time(run(12, low: 11, high: 13), at: 6) == "6 s, about 6 s left")
        #expect(time(run(900, low: 840, high: 1140), at: 300) == "5 min, 9 to 14 min left")
        #expect(time(run(180), at: 60) == "1 min, ~2 min left")
    }

    @Test func `are a time of day from ten minutes on, the reader's`() {
        let narrow = run(1200, low: 1150, high: 1250)
        #expect(time(narrow, at: 100) == "1 min 40 s, done about 00:20")
        #expect(time(run(1200), at: 100) == "1 min 40 s, done ~00:20")
        #expect(time(narrow, at: 700) == "11 min 40 s, about 8 min left")
        let zone = ZoneRules(name: "X", offsetSeconds: 3600)
        #expect(FinishWording.text(for: narrow, at: at(0), zone: zone) == "done about 01:20")
        // Of that long away it could be tomorrow's.
        #expect(time(run(52_500, low: 52_000, high: 53_000), at: 1) == "1 s, about 14 h 35 min left")
    }

    @Test func `are left out where nothing is known, and the time so far is named as such`() {
        #expect(time(run(nil), at: 6) == "6 s so far")
        #expect(time(run(nil), at: 0) == "1 s so far")
        #expect(time(run(180, low: 20, high: 400), at: 6) == "6 s so far")
        #expect(time(run(180, low: 170, high: 190), at: 200) == "3 min 20 s so far")
        #expect(time(run(nil, usual: .seconds(240)), at: 240) == "4 min so far")
    }

    @Test func `show by how much a run is late once it passed what is usual`() {
        #expect(time(run(nil, usual: .seconds(240)), at: 360) == "usually 4 min, now 6 min (+2 min)")
    }

    @Test(arguments: RunState.allCases.filter { $0 != .running })
    func `are only shown for a run at work`(state: RunState) {
        let run = run(180, usual: .seconds(1), state: state)
        #expect(FinishWording.text(for: run, at: at(2), zone: .utc) == nil)
        #expect(time(run, at: 2) == (state.isUnderWay ? "2 s so far" : nil))
    }

    @Test(arguments: [
        (0.0, "<1 s"), (59, "59 s"), (60, "1 min"), (192, "3 min 12 s"), (3599, "59 min 59 s"),
        (3900, "1 h 5 min"),
        (86400, "1 d"),
        (183_600, "2 d 3 h"), (-5, "<1 s"),
    ])
    func `name at most two units`(seconds: Double, expected: String) {
        #expect(DisplayDuration.text(.seconds(seconds)) == expected)
    }
}
