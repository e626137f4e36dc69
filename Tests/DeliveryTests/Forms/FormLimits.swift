import Delivery
import Testing
import Tracking

/// Where a service limits a text, and how it counts.
private struct Limit: CustomTestStringConvertible, Sendable {
    let name: String
    let limit: Int
    let length: @Sendable (String) -> Int
    /// The text as it is queued for a bulletin with this title and this body.
    let text: @Sendable (_ title: String, _ body: String) throws -> String?
    let isTitle: Bool

    var testDescription: String { name }

    init(
        _ name: String, _ limit: Int, _ length: @escaping @Sendable (String) -> Int, isTitle: Bool = false,
        _ text: @escaping @Sendable (String, String) throws -> String?
    ) {
        (self.name, self.limit, self.length, self.text, self.isTitle) = (name, limit, length, text, isTitle)
    }

    static let utf16: @Sendable (String) -> Int = { $0.utf16.count }
    static let bytes: @Sendable (String) -> Int = { $0.utf8.count }

    static let all = [
        Limit("ntfy's message", 4096, bytes) {
            try Sample.ntfy().json(Sample.texts(title: $0, body: $1))?["message"]?.text
        },
        Limit("Slack's header", 150, utf16, isTitle: true) {
            try Sample.slack().json(Sample.texts(title: $0, body: $1))?["attachments"]?[0]?["blocks"]?[0]?[
                "text"]?["text"]?.text
        },
        Limit("Slack's section", 3000, utf16) {
            try Sample.slack().json(Sample.texts(title: $0, body: $1))?["attachments"]?[0]?["blocks"]?[1]?[
                "text"]?["text"]?.text
        },
        Limit("Mattermost's text", 3000, utf16) {
            try Sample.mattermost().json(Sample.texts(title: $0, body: $1))?["attachments"]?[0]?["text"]?.text
        },
        Limit("Discord's title", 256, utf16, isTitle: true) {
            try Sample.discord().json(Sample.texts(title: $0, body: $1))?["embeds"]?[0]?["title"]?.text
        },
        Limit("Discord's description", 4096, utf16) {
            try Sample.discord().json(Sample.texts(title: $0, body: $1))?["embeds"]?[0]?["description"]?.text
        },
        Limit("Gotify's message", 16_384, bytes) {
            try Sample.gotify().json(Sample.texts(title: $0, body: $1))?["message"]?.text
        },
        // The title and a line break are counted as well.
        Limit("Telegram's text", 4096 - 2, utf16) {
            try Sample.telegram().json(Sample.texts(title: $0, body: $1))?["text"]?.text.map {
                String($0.dropFirst("<b>t</b>\n".count))
            }
        },
        Limit("PagerDuty's summary", 1024, utf16, isTitle: true) {
            var bulletin = Sample.texts(title: $0, body: $1)
            bulletin.notice.body = ""
            return try Sample.pagerDuty().json(bulletin)?["payload"]?["summary"]?.text
        },
        Limit("the text of a Live Activity", 600, bytes) {
            try Sample.liveActivity().json(Sample.texts(title: $0, body: $1))?["payload"]?["aps"]?["alert"]?[
                "body"]?.text
        },
    ]
}

@Suite struct `a text for a service` {
    private let family = "👨‍👩‍👧‍👦"

    @Test(arguments: Limit.all)
    private func `is whole up to the limit, and cut between two characters beyond it`(limit: Limit) throws {
        let room = limit.limit - limit.length(family)
        for more in -1...1 {
            let text = String(repeating: "a", count: room + more) + family
            let shown = try #require(
                try limit.isTitle ? limit.text(text, "b") : limit.text("t", text))
            #expect(limit.length(shown) <= limit.limit)
            #expect((shown == text) == (more < 1), "\(more): \(shown.suffix(12))")
            if more == 1 { #expect(shown.hasSuffix("a…") && !shown.unicodeScalars.contains("\u{200D}")) }
        }
    }

    @Test func `counts the backslashes that a dialect needs`() throws {
        let stars = String(repeating: "*", count: 3000)
        let shown = try #require(
            try Sample.discord().json(Sample.texts(body: stars))?["embeds"]?[0]?["description"]?.text)
        #expect(shown.utf16.count <= 4096 && shown.hasSuffix("\\*…"))
    }

    @Test func `never becomes markup`() throws {
        let text =
            "*bold* _it_ `code` [a](http://e.org) <@1> <!channel> @everyone ||x||\n- list\n# title\n> quote"
        let markdown = try Sample.mattermost().json(Sample.texts(body: text))?["attachments"]?[0]?["text"]?
            .text
        #expect(
            markdown == """
                \\*bold\\* \\_it\\_ \\`code\\` \\[a\\](http://e.org) \\<@1\\> \\<!channel\\> @everyone \\|\\|x\\|\\|
                \\- list
                \\# title
                \\> quote
                """)
        let telegram = try Sample.telegram().json(Sample.texts(title: "<b>", body: "a & <i>"))?["text"]?.text
        #expect(telegram == "<b>&lt;b&gt;</b>\na &amp; &lt;i&gt;")
        let slack = try Sample.slack().json(Sample.texts(body: text))?["attachments"]?[0]
        #expect(slack?["blocks"]?[1]?["text"]?["text"]?.text == text)
        #expect(slack?["blocks"]?[1]?["text"]?["type"]?.text == "plain_text")
        #expect(slack?["fallback"]?.text?.contains("&lt;!channel&gt;") == true)
        let discord = try Sample.discord().json(Sample.texts(body: text))
        #expect(discord?["allowed_mentions"]?["parse"]?.elements == [])
        let matrix = try Sample.matrix().json(Sample.texts(body: "<script>"))?["formatted_body"]?.text
        #expect(matrix == "<strong>t</strong><br>&lt;script&gt;")
    }

    @Test func `keeps the address of a page`() throws {
        let text = "see https://e.org/a_b_c#d~e-f and x_y"
        let shown = try Sample.discord().json(Sample.texts(body: text))?["embeds"]?[0]?["description"]?.text
        #expect(shown == "see https://e.org/a_b_c#d~e-f and x\\_y")
    }

    @Test func `holds no terminal sequence`() throws {
        let text = try Sample.ntfy().json(Sample.texts(body: "\u{1B}[31mred\u{1B}[0m\u{202E}"))?["message"]?
            .text
        #expect(text == "red")
    }

    @Test func `of a Live Activity stays within 4 KB whatever is said`() throws {
        var bulletin = Sample.failure()
        let quotes = String(repeating: "\"", count: 5000)
        (bulletin.notice.title, bulletin.notice.body) = (quotes, quotes)
        bulletin.notice.bot = quotes
        #expect(try Sample.liveActivity().sent(bulletin).body.count <= 4096)
    }

    @Test func `of Teams and of Matrix stays within their messages whatever is said`() throws {
        for text in [String(repeating: "\"", count: 20_000), String(repeating: "&\n", count: 20_000)] {
            let bulletin = Sample.texts(title: text, body: text)
            #expect(try Sample.teams().sent(bulletin).body.count <= 28_000)
            #expect(try Sample.matrix().sent(bulletin).body.count <= 64_000)
        }
    }
}
