import Grouping
import TestSupport
import Testing

@Suite struct `a preview` {
    @Test(arguments: [
        ("plain", "plain"),
        ("  two\n\n lines\t here \r\n", "two lines here"),
        ("bell\u{7}, escape\u{1B}[31m, nul\u{0}", "bell, escape, nul"),
        ("\u{1B}[1;31mred\u{1B}[0m and \u{9B}4mlined\u{9B}m", "red and lined"),
        ("a \u{1B}]8;;https://example.org\u{1B}\\link\u{1B}]8;;\u{7} here", "a link here"),
        ("a title \u{1B}]0;never ended\nand its next line", "a title and its next line"),
        ("cut off\u{1B}", "cut off"), ("cut off\u{1B}[3", "cut off"), ("kept \u{1B}[3é", "kept é"),
        ("10%\r20%\r\n", "10% 20%"),
        ("turn \u{202E}me\u{202C} round", "turn me round"),
        ("a\u{2028}b\u{A0}c", "a b c"),
        ("two  blanks", "two blanks"), (" before", "before"), ("after ", "after"), ("tab\there", "tab here"),
        ("", ""), (" \n ", ""),
    ])
    func `is one clean line`(_ text: String, _ line: String) {
        #expect(Preview.cut(text) == line)
    }

    @Test func `keeps a hundred characters and cuts the hundred and first`() {
        let hundred = String(repeating: "x", count: 100)
        #expect(Preview.cut(hundred) == hundred)
        #expect(Preview.cut(hundred + "y") == String(repeating: "x", count: 99) + "…")
    }

    @Test(arguments: [
        ("the quick brown fox", 19, "the quick brown fox"), ("the quick brown fox", 18, "the quick brown…"),
        ("the quick brown fox", 16, "the quick brown…"), ("the quick brown fox", 15, "the quick…"),
        ("two\nlines  of words", 13, "two lines of…"), ("a, b, c, and more", 9, "a, b, c,…"),
        ("/a/path/that/has/no/gap", 10, "/a/path/t…"), ("a /path/that/has/no/gap", 10, "a /path/t…"),
    ])
    func `is cut at the end of a word, and inside one that is too long`(
        _ text: String, _ limit: Int, _ line: String
    ) {
        #expect(Preview.cut(text, to: limit) == line)
    }

    @Test func `cuts between characters, never inside one`() {
        let family = "👨‍👩‍👧‍👦"
        let flags = String(repeating: "🇩🇪", count: 5)
        #expect(Preview.cut(family, to: 1) == family)
        #expect(Preview.cut(family + family + family, to: 2) == family + "…")
        #expect(Preview.cut(flags, to: 3) == "🇩🇪🇩🇪…")
        #expect(Preview.cut("e\u{301}e\u{301}e\u{301}", to: 2) == "e\u{301}…")
    }

    @Test(arguments: ["", " ", "a", "a b", " a", "a ", "\n", "\u{1B}[31m", "\u{1B}[31mred", "ü", "\u{200B}"])
    func `is empty when nothing of it can be shown`(text: String) {
        #expect(Preview.isEmpty(text) == Preview.cut(text, to: 100).isEmpty)
    }

    @Test func `is not swollen by a heap of accents`() {
        let heap = "ab" + String(repeating: "\u{301}", count: 100_000)
        let line = Preview.cut(heap)
        #expect(line == "ab" + String(repeating: "\u{301}", count: 8))
    }

    @Test func `stays within its limit for any text`() {
        var random = SeededGenerator(seed: 20_260_329)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &random))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let limit = Int.random(in: 1...12, using: &random)
            let line = Preview.cut(text, to: limit)
            #expect(line.count <= limit, "\(scalars)")
            #expect(line.utf8.count <= max(64, 16 * limit) + 3, "\(scalars)")
            #expect(Preview.cut(line, to: limit) == line, "\(scalars)")
        }
    }
}

@Suite struct `a lone message` {
    @Test(arguments: [
        ("plain", "plain"),
        ("one\ntwo\r\nthree\rfour", "one\ntwo\nthree\nfour"),
        ("\n\n  a\n\n\n\nb  \n\n", "  a\n\nb"),
        ("        used  free\nMem:     3G    1G\n", "        used  free\nMem:     3G    1G"),
        ("a\tb", "a b"), ("a\u{2028}b\u{2029}c", "a\nb\nc"),
        (
            "wide" + String(repeating: " ", count: 500) + "gap",
            "wide" + String(repeating: " ", count: 20) + "gap"
        ),
        ("\u{1B}[31mred\u{1B}[0m\nbell\u{7}, \u{202E}turned", "red\nbell, turned"),
        ("", ""), (" \n ", ""),
    ])
    func `keeps its lines and its columns`(_ text: String, _ shaped: String) {
        #expect(Preview.shape(text, to: 300) == shaped)
    }

    @Test(arguments: [
        ("the quick brown fox", 19, "the quick brown fox"), ("the quick brown fox", 18, "the quick brown…"),
        ("the quick brown fox", 16, "the quick brown…"), ("the quick brown fox", 15, "the quick…"),
        ("the quick\nbrown fox", 12, "the quick…"),
        ("/a/path/that/has/no/gap", 10, "/a/path/t…"), ("a /path/that/has/no/gap", 10, "a /path/t…"),
        ("漢字漢字漢字漢字", 5, "漢字漢字…"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2, "👨‍👩‍👧‍👦…"),
    ])
    func `is cut at a word, and inside one that is too long`(_ text: String, _ limit: Int, _ shaped: String) {
        #expect(Preview.shape(text, to: limit) == shaped)
    }

    @Test func `has no more lines than its length allows`() {
        let lines = (1...40).map { "\($0)" }
        #expect(
            Preview.shape(lines.joined(separator: "\n"), to: 300) == lines.prefix(15).joined(separator: "\n")
                + "…")
        #expect(Preview.shape(lines.joined(separator: "\n"), to: 30) == "1\n2\n3\n4…")
    }

    @Test func `stays within its limit for any text`() {
        var random = SeededGenerator(seed: 20_261_123)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...80, using: &random)).compactMap { _ in
                Bool.random(using: &random)
                    ? [" ", "\n", "a", "\u{301}"].randomElement(using: &random)
                    : Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &random))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let limit = Int.random(in: 1...40, using: &random)
            let shaped = Preview.shape(text, to: limit)
            #expect(shaped.count <= limit, "\(scalars)")
            #expect(shaped.utf8.count <= max(64, 16 * limit) + 3, "\(scalars)")
            #expect(Preview.shape(shaped, to: limit) == shaped, "\(scalars)")
        }
    }
}
