import TestSupport
import Testing
import Tracking

@Suite struct `bytes of any kind` {
    /// Bits of real progress, so that random bytes get past the first check.
    private static let fragments = [
        "X_PROGRESS=", "STATUS=", "X_STATE=blocked:", "X_PHASE=", "{\"progress\":", "\"total\":", "}", "\n",
        "\r", "%", "50%", "3/10", "0.5", "[", "\u{1B}[", "\u{1B}]", "\u{7}", "\"", "\\u", "\\ud83d", "1e9",
        "permission", "percent_done", "99999999999999999999", "-", "🏳️‍🌈", "\u{202E}", "{\"percentage\":",
        "\u{1B}]9;4;1;", "\u{1B}]7501;state=working:", "id=a/b:", "progress=40", "\u{1B}\\", "dlstatus:1:",
        "pmstatus:a:",
        "20.0000:", "1..5\n", "\nok 3 - x\n", "\n  Duration: 00:00:10.00,\n", " time=00:00:03.20 ", "\u{8}",
        " 22 60.0M   22 13.4M    0     0  10.0M      0  0:00:05  0:00:01  0:00:04 10.0M",
        "{\"stats\":{\"bytes\":1,\"totalBytes\":2}}",
        "{\"type\":\"progress_percent\",\"current\":1,\"total\":",
    ]

    private func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            if Bool.random(using: &generator) {
                bytes += Array((Self.fragments.randomElement(using: &generator) ?? "").utf8)
            } else {
                bytes.append(UInt8.random(in: 0...255, using: &generator))
            }
        }
        return bytes
    }

    @Test func `never make progress fall within a phase, leave 0...1, or say something unfit for a line`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var tracker = runningTracker()
            var scanner = OutputScanner()
            var lines = ProgressLine()
            var sequences = StatusSequences()
            for step in 0..<40 {
                let moment = at(Double(step) * 0.7)
                let input = bytes(&generator)[...]
                var reports = scanner.receive(input, at: moment).map { ($0, ReportSource.text) }
                reports += sequences.receive(input).map { ($0, .osc) }
                reports += lines.receive(input, at: moment).map { ($0, .native) }
                if let datagram = NotifyDatagram(input) { reports.append((datagram.report, .native)) }
                for (report, source) in reports {
                    let before = tracker.live
                    let change = tracker.receive(report, from: source, at: moment)
                    check(before, tracker.live, change, seed: seed)
                }
            }
            _ = scanner.finish()
            _ = lines.finish()
        }
    }

    private func check(_ before: LiveState, _ after: LiveState, _ change: LiveChange, seed: UInt64) {
        #expect(after.seq == before.seq + (change == .none ? 0 : 1), "seed \(seed)")
        if before.phase == after.phase, let past = before.progress, let now = after.progress {
            #expect(now >= past, "seed \(seed)")
        }
        if let progress = after.progress { #expect((0...1).contains(progress), "seed \(seed)") }
        for text in [after.message, after.phase].compactMap(\.self) {
            #expect(!text.isEmpty, "seed \(seed)")
            #expect(
                text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "seed \(seed)")
        }
    }

    @Test func `never make a rising report fall, whichever door it comes through`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        var tracker = runningTracker()
        for step in 0..<5000 {
            let before = tracker.live
            let report = ProgressReport(
                fraction: Bool.random(using: &generator) ? .random(in: -1...2, using: &generator) : nil,
                done: .random(in: -5...50, using: &generator), total: .random(in: -5...50, using: &generator),
                phase: ["copy", "verify", nil].randomElement(using: &generator) ?? nil,
                isWithdrawal: step % 97 == 0)
            let source = ReportSource.allCases.randomElement(using: &generator) ?? .text
            let change = tracker.receive(report, from: source, at: at(Double(step)))
            check(before, tracker.live, change, seed: seed)
        }
    }
}

@Suite struct `a clean line` {
    /// Issue 10, 19.
    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", "red"), ("\u{9B}1;31mred", "red"), ("a\u{1B}]0;title\u{7}b", "ab"),
        ("a\u{1B}]8;;https://example.org\u{1B}\\link", "alink"), ("a\u{1B}(Bb\u{1B}cc", "abc"),
        ("\u{1B}[", ""), ("50 %\r\nnext\tline", "50 % next line"), ("a\u{202E}b\u{200F}c", "abc"),
        ("bell\u{7} and null\u{0}", "bell and null"),
    ])
    func `holds no part of a terminal sequence`(raw: String, clean: String) {
        #expect(CleanText.line(raw, limit: 100) == clean)
    }

    @Test(arguments: [
        ("a  b\tc\r\nd", "a  b c d"), ("\u{1B}[31mred\u{1B}[0m  x", "red  x"), ("a\u{202E}b\u{200F}c", "abc"),
        ("\u{E000}", "\u{FFFD}"), ("👩\u{200D}💻", "👩\u{200D}💻"),
    ])
    func `keeps its spaces as a row of a table`(raw: String, clean: String) {
        #expect(CleanText.row(raw) == clean)
    }
}
