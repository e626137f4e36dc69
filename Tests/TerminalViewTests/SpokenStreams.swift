import TerminalView
import Testing

@Suite struct `a reply while it comes` {
    private func shown(_ pieces: [[UInt8]]) -> String {
        var stream = SpokenStream()
        return pieces.map { stream.receive($0) }.joined() + stream.finish()
    }

    @Test(arguments: [
        ("Grüße 👩‍🚀\nline two", "Grüße 👩‍🚀\nline two"),
        ("a\u{1B}[31mred\u{1B}[0m\u{7}b\r", "aredb"),
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
}
