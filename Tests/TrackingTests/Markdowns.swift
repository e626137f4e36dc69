import TestSupport
import Testing

@testable import Tracking

@Suite struct `a text of Markdown` {
    private func plain(_ text: String) -> String { Markdown(text).text(for: PlainPlace()) }

    private func marked(_ text: String) -> String { Markdown(text).text(for: MarkupPlace(hasLinks: true)) }

    @Test func `keeps the columns of plain lines`() {
        let text = "Deploy:\n  nodes  12\n  errors  0"
        #expect(plain(text) == text && marked(text) == text)
    }

    @Test func `is read as blocks`() {
        let text = """
            # Report ##

            All *is* **well**:
            see below.
            - one
              - two
            3) three
            > quoted
            > more
            ```sh
              ls *.txt
            ```
            ---
            """
        #expect(
            Markdown(text).blocks == [
                .heading(1, [.init("Report")]),
                .paragraph([
                    [
                        .init("All "), .init("is", style: .italic), .init(" "), .init("well", style: .bold),
                        .init(":"),
                    ],
                    [.init("see below.")],
                ]),
                .item(depth: 0, mark: "•", [[.init("one")]]), .item(depth: 1, mark: "•", [[.init("two")]]),
                .item(depth: 0, mark: "3.", [[.init("three")]]),
                .quote([[.init("quoted")], [.init("more")]]), .code(["  ls *.txt"]), .rule,
            ])
        #expect(
            plain(text) == """
                Report
                All is well:
                see below.

                • one
                  • two
                3. three

                │ quoted
                │ more

                    ls *.txt

                ───
                """)
    }

    @Test(arguments: [
        ("a *b* c", "a <i>b</i> c"), ("**b**", "<b>b</b>"), ("***b***", "<b><i>b</i></b>"),
        ("__b__ _i_", "<b>b</b> <i>i</i>"),
        ("*a **b** c*", "<i>a </i><b><i>b</i></b><i> c</i>"), ("snake_case_name", "snake_case_name"),
        ("2 * 3 * 4", "2 * 3 * 4"), ("*.log and *.txt", "*.log and *.txt"), ("**open", "**open"),
        ("a*", "a*"),
        ("`a *b* <c>`", "a *b* &lt;c&gt;"), ("``a`b``", "a`b"), ("`open", "`open"), ("\\*a\\*", "*a*"),
        ("[x](https://e.org/?a=1&b=2)", "<a href=\"https://e.org/?a=1&amp;b=2\">x</a>"),
        ("[x](javascript:alert)", "[x](javascript:alert)"), ("[x](/etc/passwd)", "[x](/etc/passwd)"),
        ("[x](https://e.org \"title\")", "<a href=\"https://e.org\">x</a>"),
        ("<https://e.org>", "<a href=\"https://e.org\">https://e.org</a>"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("[a [b](https://e.org)", "[a <a href=\"https://e.org\">b</a>"), ("a & b", "a &amp; b"),
        ("#hash", "#hash"), ("1.5 is", "1.5 is"), ("-5", "-5"), ("*a*b*", "<i>a</i>b*"),
        ("**a*", "*<i>a</i>"),
    ])
    func `has emphasis, code and links, and leaves the rest as it was written`(text: String, markup: String) {
        #expect(marked(text) == markup)
    }

    @Test func `shows the address of a link where there are no links, unless the text is that`() {
        #expect(plain("[docs](https://e.org)") == "docs (https://e.org)")
        #expect(plain("<https://e.org>") == "https://e.org")
        let place = MarkupPlace(hasLinks: false)
        #expect(Markdown("[<x>](https://e.org)").text(for: place) == "&lt;x&gt; (https://e.org)")
    }

    @Test func `ends a fence that nobody closed at the end, and takes a longer one in it as text`() {
        #expect(Markdown("```\na\n\nb").blocks == [.code(["a", "", "b"])])
        #expect(Markdown("````\n```\n````").blocks == [.code(["```"])])
    }

    @Test func `says nothing that could command a terminal or a server`() {
        let text = "# a\u{1B}[2J\u{7}b\n`\u{202E}c`\u{0}\n<script>&"
        for shown in [plain(text), marked(text)] {
            #expect(
                shown.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x202E) })
        }
        #expect(marked(text).hasSuffix("&lt;script&gt;&amp;"))
    }

    @Test(arguments: [
        "*", "_", "`", "[", "](", "[a](", "<a", "**a*", "*a _b ", "> ", "- ", "`` ` ", "\\", "[[](", "~~~\n",
        "a*b_c`d[e](f", "*a`*",
    ])
    func `takes no longer than its length, whatever it repeats`(piece: String) {
        // A search that goes back to the beginning with each piece would not end.
        let text = String(repeating: piece, count: 40_000 / piece.utf8.count)
        _ = plain(text)
        _ = marked(text.replacing("\n", with: " "))
    }

    @Test func `is well formed markup, whatever it holds`() {
        var random = SeededGenerator(seed: 20_261_123)
        let pieces = [
            "*", "**", "_", "`", "[", "](https://e.org)", "a", " ", "\n", "<", "&", "> ", "# ", "- ", "\\",
            "```\n", "é",
        ]
        for _ in 0..<3000 {
            let text = (0..<random.below(30)).map { _ in pieces[random.below(pieces.count)] }.joined()
            var open: [Substring] = []
            var rest = marked(text)[...]
            while let start = rest.firstIndex(of: "<") {
                let end = rest[start...].firstIndex(of: ">") ?? rest.endIndex
                let tag = rest[rest.index(after: start)..<end].prefix { $0 != " " }
                if tag.hasPrefix("/") {
                    #expect(open.popLast() == tag.dropFirst(), "\(text.debugDescription)")
                } else {
                    open.append(tag)
                }
                rest = end == rest.endIndex ? "" : rest[rest.index(after: end)...]
            }
            #expect(open.isEmpty, "\(text.debugDescription)")
        }
    }

    @Test func `is read as far as its limit`() {
        let text = String(repeating: "a", count: Markdown.longest + 10)
        #expect(plain(text).utf8.count == Markdown.longest)
    }
}
