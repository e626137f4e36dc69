import TestSupport
import Testing
import Tracking

@testable import TerminalView

@Suite struct `output on its way to a terminal` {
    /// What passes of a text, cut into pieces of so many bytes.
    private func passed(_ text: String, _ removal: PassedOutput.Removal = .all, cut: Int = .max) -> String {
        var output = PassedOutput(removing: removal)
        var (rest, bytes) = (Array(text.utf8)[...], [UInt8]())
        while !rest.isEmpty {
            bytes += output.receive(rest.prefix(cut))
            rest = rest.dropFirst(cut)
        }
        return String(decoding: bytes + output.finish(), as: UTF8.self)
    }

    @Test(arguments: [Int.max, 1, 3])
    func `loses the progress of the command and nothing else`(cut: Int) {
        let text =
            "a\u{1B}]9;4;1;42\u{1B}\\b\u{1B}]9;4;3\u{07}c\u{1B}]7501;state=working:progress=3\u{1B}\\d"
        #expect(passed(text, cut: cut) == "abcd")
        #expect(passed(text, .nothing, cut: cut) == text)
        #expect(
            passed(text, .init(taskbar: true, status: false), cut: cut)
                == "abc\u{1B}]7501;state=working:progress=3\u{1B}\\d")
    }

    @Test(
        arguments: [
            "\u{1B}]0;title\u{07}x", "\u{1B}]9;notice\u{1B}\\x", "\u{1B}]9;4\u{07}", "\u{1B}]9;42;1\u{1B}\\",
            "\u{1B}[31mred\u{1B}[0m", "\u{1B}P$q9;4;1\u{1B}\\", "\u{1B}(B日本語",
            "\u{1B}]8;;http://x\u{1B}\\link",
            "\u{1B}]9;4;1", "\u{1B}", "\u{1B}]75", "\u{1B}]9;4;1\u{1B}[2J", "\u{1B}\u{1B}]0;t\u{07}",
            "\u{1B}_Gf=100;AAAA\u{1B}\\", "\u{1B}[1\u{1B}[2J",
        ], [Int.max, 1])
    func `passes as it is`(text: String, cut: Int) {
        #expect(passed(text, cut: cut) == text)
    }

    @Test(arguments: [
        "\u{1B}]9;4;" + String(repeating: "1", count: 10_000),
        "\u{1B}" + String(repeating: "/", count: 10_000),
    ])
    func `holds no more than a sequence may be long`(long: String) {
        var output = PassedOutput(removing: .all)
        let shown = output.receive(Array(long.utf8)[...])
        #expect(shown.count > 5000)
        #expect(passed(long, cut: 1) == long)
    }

    @Test(arguments: ["\u{18}", "\u{1A}"], ["]0;title", "]9;4;1;4", "]9;4;1\u{1B}", "Pdata", "Pdata\u{1B}"])
    func `is text again behind a sequence that was cancelled`(cancel: String, begun: String) {
        let text = "\u{1B}\(begun)\(cancel)text"
        var output = PassedOutput(removing: .all)
        #expect(String(decoding: output.receive(Array(text.utf8)[...]), as: UTF8.self) == text)
        #expect(output.isBetween)
        #expect(output.receive(Array("\u{1B}]9;4;1;50\u{07}".utf8)[...]).isEmpty)
    }

    @Test func `may be followed by another's sequence only where one of its own is whole`() {
        var output = PassedOutput(removing: .all)
        var between: [Bool] = []
        for byte in Array("a\u{1B}[1mé\u{1B}]9;4;1\u{07}".utf8) {
            _ = output.receive([byte])
            between.append(output.isBetween)
        }
        #expect(
            between == [true, false, false, false, true, false, true] + [Bool](repeating: false, count: 7)
                + [true])
    }

    @Test func `is the same after random bytes, however they are cut`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let words: [[UInt8]] = ["\u{1B}]", "9;4;", "7501;", "1", "\u{1B}\\", "\u{07}", "\u{1B}[", "m", "é"]
            .map {
                Array($0.utf8)
            }
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<40 {
                bytes +=
                    Bool.random(using: &generator)
                    ? words.randomElement(using: &generator) ?? []
                    : [UInt8.random(in: 0...255, using: &generator)]
            }
            var whole = PassedOutput(removing: .all)
            let expected = whole.receive(bytes[...]) + whole.finish()
            var cut = PassedOutput(removing: .all)
            let pieces = bytes.flatMap { cut.receive([$0]) } + cut.finish()
            #expect(pieces == expected, "seed \(seed)")
            #expect(expected.count <= bytes.count)
        }
    }
}
