import Testing
import Tracking

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
