import Delivery
import Grouping
import TestSupport
import Testing
import Tracking

/// What bots mark up, as each service sets it.
@Suite struct `a marked text for a service` {
    private static let family = "👨‍👩‍👧‍👦"

    private func bulletin(_ body: String, _ markup: NoticeMarkup = .markdown) -> Bulletin {
        var bulletin = Sample.texts(body: body)
        bulletin.notice.markup = markup
        return bulletin
    }

    private func telegram(_ body: String) throws -> String {
        let text = try Sample.telegram().json(bulletin(body))?["text"]?.text ?? ""
        return String(text.dropFirst("<b>t</b>\n".count))
    }

    private func discord(_ body: String, _ markup: NoticeMarkup? = .markdown) throws -> String {
        var bulletin = bulletin(body)
        bulletin.notice.markup = markup
        return try Sample.discord().json(bulletin)?["embeds"]?[0]?["description"]?.text ?? ""
    }

    private func slack(_ body: String) throws -> [JSON] {
        let block = try Sample.slack().json(bulletin(body))?["attachments"]?[0]?["blocks"]?[1]
        #expect(block?["type"]?.text == "rich_text")
        return block?["elements"]?[0]?["elements"]?.elements ?? []
    }

    private let sample = "**Done** in *two* parts: `a<b>` and [the page](https://e.org/a_b?c=1&d=2)"

    @Test func `is HTML for Telegram and Matrix`() throws {
        let html =
            "<b>Done</b> in <i>two</i> parts: <code>a&lt;b&gt;</code> and "
            + "<a href=\"https://e.org/a_b?c=1&amp;d=2\">the page</a>"
        #expect(try telegram(sample) == html)
        let matrix = try Sample.matrix().json(bulletin(sample))
        #expect(matrix?["formatted_body"]?.text == "<strong>t</strong><br>\(html)")
        #expect(
            matrix?["body"]?.text == "t\nDone in two parts: a<b> and the page (https://e.org/a_b?c=1&d=2)")
        // Telegram refuses code in another style.
        #expect(try telegram("**a `b` c**") == "<b>a </b><code>b</code><b> c</b>")
    }

    @Test func `is Markdown for Discord, Mattermost and Gotify`() throws {
        let text = "**Done** in *two* parts: `a<b>` and [the page](https://e.org/a_b?c=1&d=2)"
        #expect(try discord(sample) == text)
        #expect(
            try Sample.mattermost().json(bulletin(sample))?["attachments"]?[0]?["text"]?.text == text)
        let gotify = try Sample.gotify().json(bulletin(sample))
        #expect(gotify?["message"]?.text == text)
        #expect(gotify?["extras"]?["client::display"]?["contentType"]?.text == "text/markdown")
        #expect(try discord("a \\* b ||c|| <@1> # d") == "a \\* b \\|\\|c\\|\\| \\<@1\\> \\# d")
    }

    @Test func `keeps its lines apart on Gotify, and is no empty message where nothing but marks is left`()
        throws
    {
        #expect(try Sample.gotify().json(bulletin("one\n- two"))?["message"]?.text == "one  \n  \n• two")
        let empty = bulletin("```\n```")
        #expect(try Sample.gotify().json(empty)?["message"]?.text == "t")
        #expect(try Sample.slack().json(empty)?["attachments"]?[0]?["blocks"]?.elements.count == 1)
    }

    @Test func `is rich text for Slack, whose own marks can't be escaped`() throws {
        let elements = try slack("**Done** ~x~ <!channel> `c` [p](https://e.org)\n- one")
        #expect(
            elements.map { $0["text"]?.text } == [
                "Done", " ~x~ <!channel> ", "c", " ", "p", "\n", "\n", "• ", "one",
            ])
        #expect(elements[0]["style"]?["bold"] == .bool(true) && elements[2]["style"]?["code"] == .bool(true))
        #expect(elements[4]["type"]?.text == "link" && elements[4]["url"]?.text == "https://e.org")
        #expect(elements[1]["style"] == nil)
    }

    @Test func `is runs of text for Teams, and plain for ntfy`() throws {
        let card = try Sample.teams().json(bulletin(sample))?["attachments"]?[0]?["content"]
        let runs = card?["body"]?[1]?["inlines"]?.elements ?? []
        #expect(runs.compactMap { $0["text"]?.text }.joined() == "Done in two parts: a<b> and the page")
        #expect(runs.first?["weight"]?.text == "Bolder")
        #expect(runs.last?["selectAction"]?["url"]?.text == "https://e.org/a_b?c=1&d=2")
        #expect(
            try Sample.ntfy().json(bulletin(sample))?["message"]?.text
                == "Done in two parts: a<b> and the page (https://e.org/a_b?c=1&d=2)")
    }

    @Test func `is cut between two characters, and every mark that was opened is closed`() throws {
        let room = 4096 - 2
        for more in -1...1 {
            let text = String(repeating: "a", count: room - Self.family.utf16.count + more) + Self.family
            let shown = try telegram("**\(text)**")
            #expect((shown == "<b>\(text)</b>") == (more < 1))
            if more == 1 { #expect(shown.hasSuffix("a</b>…"), "\(shown.suffix(20))") }
        }
        let long = (0..<900).map { "**b\($0)** _i_ `c`" }.joined(separator: " ")
        let shown = try discord(long)
        #expect(shown.utf16.count <= 4096 && shown.hasSuffix("…"))
        #expect(shown.matches(of: /\*\*/).count % 2 == 0)
        #expect(try slack(long).reduce(0) { $0 + ($1["text"]?.text?.utf16.count ?? 0) } <= 3000)
    }

    // MARK: Anything

    private static let pieces = [
        "a", "b c", " ", "*", "**", "_", "__", "`", "``", "[", "]", "(", ")", "<", ">", "&", "\\", "\n", "#",
        "-",
        "- ", "> ", "|", "~", "@everyone", "<!channel>", "<b>", "</b>", "&lt;", "[x](https://e.org/(y))",
        family,
        "**bold**", "*it*", "`code`", "e\u{301}", "1. ", "```\n", "https://e.org/a_b*c", "\"",
    ]

    private func random(_ numbers: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...14, using: &numbers)).map { _ in
            Self.pieces.randomElement(using: &numbers) ?? ""
        }.joined()
    }

    @Test func `says the same words at every service, whatever it holds`() throws {
        var numbers = SeededGenerator(seed: 17)
        for _ in 0..<3000 {
            let body = random(&numbers)
            let words = Markdown(body).spanLines.map { $0.map(\.text).joined() }.joined(separator: "\n")
            let html = try telegram(body)
            #expect(try HTMLWords(html).text == words, "\(body.debugDescription): \(html)")
            if !words.isEmpty {
                let rich = try slack(body).compactMap { $0["text"]?.text }.joined()
                #expect(rich == words, "\(body.debugDescription)")
            }
        }
    }

    @Test func `that is none is shown to the letter by what reads Markdown`() throws {
        var numbers = SeededGenerator(seed: 18)
        for _ in 0..<3000 {
            let body = random(&numbers).replacing("https://", with: "").replacing("\n", with: " ")
            let spans = Markdown.spans(of: try discord(body, nil))
            #expect(spans.map(\.text).joined() == body, "\(body.debugDescription)")
            #expect(spans.allSatisfy { $0.style.isEmpty && $0.link == nil }, "\(body.debugDescription)")
        }
    }
}

/// Reads the HTML of ours: what it says, with an error where its tags are not those that are known, or do not pair.
private struct HTMLWords {
    struct Fault: Error { let place: String }

    private(set) var text = ""

    init(_ html: String) throws {
        var (rest, open): (Substring, [String]) = (html[...], [])
        while let character = rest.first {
            guard character == "<" else {
                let (word, count) = try Self.entity(rest)
                if open.last == "code", word == "\n" { throw Fault(place: String(rest.prefix(20))) }
                text += word
                rest = rest.dropFirst(count)
                continue
            }
            guard let end = rest.firstIndex(of: ">") else { throw Fault(place: String(rest.prefix(20))) }
            let tag = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else { throw Fault(place: tag) }
            } else if tag.hasPrefix("a href=\"http"), tag.hasSuffix("\""),
                tag.filter({ $0 == "\"" }).count == 2
            {
                open.append("a")
            } else {
                guard ["b", "i", "code"].contains(tag), !open.contains("code"), !open.contains(tag) else {
                    throw Fault(place: tag)
                }
                open.append(tag)
            }
        }
        guard open.isEmpty else { throw Fault(place: "\(open)") }
    }

    private static func entity(_ rest: Substring) throws -> (String, Int) {
        for (name, word) in [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] where rest.hasPrefix(name) {
            return (word, name.count)
        }
        guard let first = rest.first, first != "&" else { throw Fault(place: String(rest.prefix(20))) }
        return (String(first), 1)
    }
}
