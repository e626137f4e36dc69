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
