import TestSupport
import Testing
import Timeline

@testable import Tracking

@Suite struct `the progress that a job sends to a terminal` {
    private func read(_ text: String, cut: Int = .max) -> [ProgressReport] {
        var reader = StatusSequences()
        var rest = Array(text.utf8)[...]
        var reports: [ProgressReport] = []
        while !rest.isEmpty {
            reports += reader.receive(rest.prefix(cut))
            rest = rest.dropFirst(cut)
        }
        return reports
    }

    @Test(arguments: [Int.max, 1, 3]) func `is read in both forms, wherever it is cut`(cut: Int) {
        let text = "a\u{1B}]9;4;1;33\u{1B}\\b\u{1B}[31mred\u{1B}]9;4;1;42\u{07}\u{1B}]0;title\u{07}c"
        #expect(read(text, cut: cut) == [ProgressReport(fraction: 0.33), ProgressReport(fraction: 0.42)])
    }

    @Test(
        arguments: [
            ("9;4;0;0", nil), ("9;4;0", nil), ("9;4;3", ProgressReport()),
            ("9;4;2;50", ProgressReport(fraction: 0.5)),
            ("9;4;1;101", nil), ("9;4;1;-5", nil), ("9;4;1;nan", nil), ("9;4", nil), ("9;a message", nil),
            ("9;4;4;10", ProgressReport(fraction: 0.1)),
        ] as [(String, ProgressReport?)])
    func `means what terminals make of it`(sequence: String, report: ProgressReport?) {
        #expect(read("\u{1B}]\(sequence)\u{1B}\\") == [report].compactMap(\.self))
    }

    @Test func `is read from the status protocol, with the parts of the work`() {
        let message = Base64.encode(Array("copying größe".utf8))
        let reports = read(
            "\u{1B}]7501;state=working:progress=42:msg=\(message)\u{1B}\\"
                + "\u{1B}]7501;state=blocked:kind=permission\u{07}"
                + "\u{1B}]7501;id=build/linux:state=working:progress=10\u{1B}\\"
                + "\u{1B}]7501;id=build:state=clear\u{1B}\\")
        #expect(
            reports.first
                == ProgressReport(fraction: 0.42, message: "copying größe", word: .working))
        #expect(reports[1].word == .blocked(.permission))
        #expect(reports[2].part == ReportedPart(path: "build/linux", progress: 0.1, word: .working))
        #expect(reports[3].part?.word == .clear)
    }

    @Test(arguments: [
        "progress=42", "state=working:UP=1", "state=working:x=a b", "state=flying", "state", "?",
        "id=a//b:state=working", "id=1/2/3/4/5/6/7/8/9:state=working", "state=wor\u{01}king",
        "id=\(String(repeating: "x", count: 33)):state=done",
        "state=working:msg=\(String(repeating: "QUFB", count: 1100))",
    ])
    func `is refused where it is not of the protocol's form`(text: String) {
        #expect(read("\u{1B}]7501;\(text)\u{1B}\\").isEmpty)
    }

    @Test func `stays within bounds, whatever is sent`() {
        var generator = SeededGenerator(seed: 18)
        var reader = StatusSequences()
        let alphabet = Array("\u{1B}]9;4;17501state=working:progres0\u{07}\\id/".utf8) + [0, 255]
        for _ in 0..<300 {
            let piece = (0..<4000).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            for report in reader.receive(piece[...]) {
                #expect((0...1).contains(report.progress ?? 0))
            }
        }
    }
}
