import TerminalView
import TestSupport
import Testing
import Tracking

@Suite struct `a reply while it comes` {
    private func shown(_ pieces: [[UInt8]]) -> String {
        var stream = SpokenStream()
        return pieces.map { stream.receive($0) }.joined() + stream.finish()
    }

    @Test(arguments: [
        ("Grüße 👩‍🚀\nline two", "Grüße 👩‍🚀\nline two"),
        ("a\u{1B}[31mred\u{1B}[0m\u{7}b\r", "aredb\n"),
        ("50 %\r100 %\r\nend", "50 %\n100 %\nend"),
        ("a\u{1B}]0;never closed\nb\u{1B}]0;nor this\rc", "a\nb\nc"),
        ("a\u{1B}]0;title\u{1B}[31mred\u{1B}[\u{1B}[0mb", "aredb"),
        ("e" + String(repeating: "\u{301}", count: 20), "e" + String(repeating: "\u{301}", count: 8)),
        ("a\u{1B}]0;title\u{7}b\u{1B}]8;;http://x\u{1B}\\link", "ablink"),
        ("seen<internal>not\nseen</internal> again", "seen again"),
        ("1 < 2, <<internal>x</internal><int and </internal>", "1 < 2, <<int and </internal>"),
        ("open <internal>for ever", "open "),
        ("ends in <inter", "ends in <inter"),
        ("\u{202E}abc", "abc"),
    ])
    func `is the same however it is cut`(_ text: String, _ expected: String) {
        let bytes = Array(text.utf8)
        #expect(shown([bytes]) == expected)
        #expect(shown(bytes.map { [$0] }) == expected)
        for cut in bytes.indices {
            #expect(shown([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected, "cut at \(cut)")
        }
    }

    @Test func `shows broken bytes as a replacement, and loses nothing after them`() {
        #expect(shown([[0x61, 0xFF, 0x62], [0xE2, 0x82], [0x63]]) == "a\u{FFFD}b\u{FFFD}c")
    }

    private static let fragments = [
        "\u{1B}", "\u{1B}[", "\u{1B}]0;t", "\u{9B}", "\u{9D}", "\u{9C}", "\u{7}", "\\", "31m", "(B", "\r",
        "\n",
        "\t", "é", "👩‍🚀", "\u{301}", "\u{301}\u{301}\u{301}\u{301}\u{301}", "\u{202E}", "text", "<internal>",
        "</internal>", "<int",
    ]

    @Test func `is that of the whole text, however that is cut`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var (bytes, isText) = ([UInt8](), true)
            for _ in 0..<generator.below(12) {
                if generator.below(6) > 0 {
                    bytes += Array(Self.fragments[generator.below(Self.fragments.count)].utf8)
                } else {
                    bytes.append(UInt8(generator.below(256)))
                    isText = false
                }
            }
            var (pieces, rest) = ([[UInt8]](), bytes[...])
            while !rest.isEmpty {
                let count = min(rest.count, generator.below(5))
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let whole = shown([bytes])
            #expect(shown(pieces) == whole, "seed \(seed): \(bytes)")
            // All that is shown once it is whole, where nothing is internal.
            let text = String(decoding: bytes, as: UTF8.self)
            if isText, !text.spoken.contains("<int") {
                #expect(whole == text.spoken, "seed \(seed): \(bytes)")
            }
        }
    }
}

@Suite struct `Markdown on a terminal` {
    private let text = Markdown("# News\n- **two** `x`\n> *so*\n[docs](https://e.org)")

    @Test func `is set in bold, italic and colour where colours are shown`() {
        #expect(
            text.lines(for: TerminalPlace(colorful)) == [
                "\u{1B}[1mNews\u{1B}[0m", "• \u{1B}[1mtwo\u{1B}[0m \u{1B}[36mx\u{1B}[0m", "",
                "│ \u{1B}[3mso\u{1B}[0m", "│ \u{1B}[4mdocs (https://e.org)\u{1B}[0m",
            ])
    }

    @Test func `is plain without colours, and ASCII where there is nothing else`() {
        #expect(
            text.lines(for: TerminalPlace(plainColors)) == [
                "News", "• two x", "", "│ so", "│ docs (https://e.org)",
            ])
        #expect(text.lines(for: TerminalPlace(asciiOnly))[1] == "* two x")
    }

    @Test func `never commands the terminal`() {
        let lines = Markdown("a\u{1B}[2J `b\u{7}` **\u{202E}c**").lines(for: TerminalPlace(plainColors))
        #expect(lines.joined().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    }
}
