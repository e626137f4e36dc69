import Testing

@testable import TerminalView

@Suite struct `the width of a text` {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("ｱ", 1), ("Ａ", 2), ("…", 1), ("█▎·", 3), ("●◆✓✗○◌‖–", 8), ("😀", 2), ("❤\u{FE0F}", 2), ("❤", 1),
        ("👩‍👩‍👧", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🏳️‍🌈", 2), ("1\u{FE0F}\u{20E3}", 2), ("क्ष", 2), ("สวัสดี", 4),
        ("שלום", 4), ("\u{200B}", 0), ("a\u{AD}b", 3), ("\u{20000}", 2), ("〰", 2), ("\u{1F1E9}", 1),
    ])
    func `is what terminals give it, or a cell more`(text: String, cells: Int) {
        #expect(CellWidth.of(text) == cells)
    }

    @Test func `is cut by cells between characters, with an ellipsis`() {
        func cut(_ text: String, _ cells: Int) -> (String, Int) {
            var line = FrameLine(plainColors)
            line.add(text, limit: cells)
            return (String(decoding: line.bytes, as: UTF8.self), line.cells)
        }
        #expect(cut("日本語", 6) == ("日本語", 6))
        #expect(cut("日本語", 5) == ("日本…", 5))
        #expect(cut("日本語", 4) == ("日…", 3))
        #expect(cut("日本語", 1) == ("", 0))
        #expect(cut("ab👩‍👩‍👧cd", 4) == ("ab…", 3))
        #expect(cut("ab👩‍👩‍👧cd", 5) == ("ab👩‍👩‍👧…", 5))
        #expect(cut("e\u{301}e\u{301}e\u{301}", 2) == ("e\u{301}…", 2))
        #expect(cut("abc", 0) == ("", 0))
    }

    @Test func `is one question mark a character where only ASCII is taken`() {
        var line = FrameLine(asciiOnly)
        line.add("日本 ok 👩‍👩‍👧!", limit: 40)
        #expect(String(decoding: line.bytes, as: UTF8.self) == "?? ok ?!")
        #expect(line.cells == 8)
    }
}
