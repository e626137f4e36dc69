import TerminalView
import Testing
import Tracking

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
