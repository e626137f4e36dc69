import Delivery
import Grouping
import Testing
import Timeline
import Tracking

/// A service, what it publishes, and what is sent to it.
private struct PublishedService: CustomTestStringConvertible, Sendable {
    let name: String
    let schema: Published
    /// The most bytes that a whole body may have.
    let most: Int
    /// Lengths at which something of it ends, beside those of a title and a body.
    let limits: [Int]
    let bodies: @Sendable (Bulletin) throws -> [[UInt8]]

    var testDescription: String { name }

    init(
        _ name: String, _ schema: Published, most: Int = .max, limits: [Int] = [],
        _ bodies: @escaping @Sendable (Bulletin) throws -> [[UInt8]]
    ) {
        (self.name, self.schema, self.most, self.limits, self.bodies) = (name, schema, most, limits, bodies)
    }

    private static let key = String(repeating: "k", count: 32)

    static let all = [
        PublishedService("Slack", .slack, limits: [80, 150, 3000]) { [try Sample.slack().sent($0).body] },
        PublishedService("Mattermost", .mattermost, limits: [150, 3000]) {
            [try Sample.mattermost().sent($0).body]
        },
        PublishedService("Discord", .discord, limits: [256, 4096]) { [try Sample.discord().sent($0).body] },
        PublishedService("Telegram", .telegram, limits: [250, 4096]) {
            [try Sample.telegram().sent($0).body]
        },
        PublishedService("Matrix", .matrix, most: 64_000, limits: [250, 4096]) {
            [try Sample.matrix().sent($0).body]
        },
        PublishedService("an edit of Matrix", .matrixEdit, most: 64_000, limits: [250, 4096]) {
            [try Sample.matrix().step(.edit($0.notice, at: $0.at, of: "$e:e.org")).body]
        },
        PublishedService("Teams", .teams, most: 28_000, limits: [250, 8192]) {
            [try Sample.teams().sent($0).body]
        },
        PublishedService("PagerDuty", .pagerDuty, most: 512 << 10, limits: [255, 1024, 16_384]) {
            [try Sample.pagerDuty().sent($0, ["key": key]).body]
        },
        PublishedService("Alertmanager", .alertmanager, limits: [250, 8192]) {
            [try Sample.alertmanager().sent($0).body]
        },
        PublishedService("CloudEvents", .cloudEvent) { [try Sample.cloudEvents("structured").sent($0).body] },
        PublishedService("ntfy", .ntfy, limits: [250, 4096]) { [try Sample.ntfy().sent($0).body] },
        PublishedService("Gotify", .gotify, limits: [250, 16_384]) { [try Sample.gotify().sent($0).body] },
        PublishedService("a Live Activity", .liveActivity, most: 4096, limits: [100, 600]) {
            [try Sample.liveActivity().sent($0).body]
        },
        PublishedService("a webhook", .standardWebhook) {
            [try Sample.form(WebhookForm.self, ["url": "https://e.org/"]).sent($0).body]
        },
    ]

    /// What of these bodies is not as published.
    func faults(_ bulletin: Bulletin) throws -> [String] {
        try bodies(bulletin).flatMap { body -> [String] in
            guard let json = JSON(parsing: body[...]) else { return ["no JSON"] }
            let size = body.count <= most ? [] : ["has \(body.count) bytes"]
            return schema.faults(in: json) + size
        }
    }
}

@Suite struct `a body for a service` {
    private static let family = "👨‍👩‍👧‍👦"

    @Test(arguments: PublishedService.all)
    private func `is as the service publishes, whatever happened`(service: PublishedService) throws {
        var linked = Sample.messages(["Deploy?"], urgency: .critical)
        linked.notice.links = PageLink.fitting(
            (1...9).map { PageLink(label: "Page <\($0)> & more | x", url: "https://e.org/?a=\($0)&b=<") })
        var long = linked
        let address = "https://e.org/?" + String(repeating: "&", count: 1900)
        long.notice.links = [PageLink(label: String(repeating: "&", count: 90), url: address)]
        var marked = Sample.messages(["m"])
        marked.notice.markup = .markdown
        marked.notice.body =
            "# Title\n**bold** *it* `code` [a](https://e.org/\"x\"&y) <b>\n- one\n\n```\nx < y\n```\n**"
        let bulletins = [
            Sample.failure(), Sample.recovery, Sample.start, linked, long, marked,
            Sample.failure(of: Self.family, text: ""),
            Sample.messages(["a", "b", "c", "d"], reason: .tooSoon),
            Sample.texts(title: "only a title", body: ""), Sample.texts(title: " ", body: "\n \n"),
            Sample.texts(
                title: "x\u{1B}[1m\u{202E}", body: "\u{0}\u{7}\u{FFFE} <!channel> @everyone \\ \" & <a>"),
        ]
        for (place, bulletin) in bulletins.enumerated() {
            let faults = try service.faults(bulletin)
            #expect(faults.isEmpty, "bulletin \(place): \(faults)")
        }
    }

    @Test(arguments: PublishedService.all)
    private func `is as the service publishes at each limit, one less and one more`(
        service: PublishedService
    ) throws {
        for limit in [1, 64] + service.limits {
            for more in -1...1 {
                for (fill, unit) in limit > 5000 ? [("a", 1), ("界", 3)] : [("a", 1), ("&", 1), ("界", 3)] {
                    let count = max(0, (limit + more - Self.family.utf16.count) / unit)
                    let text = String(repeating: fill, count: count) + Self.family
                    var faults: [String] = []
                    var bulletin = Sample.texts(title: text, body: fill == "a" ? "" : "b")
                    faults += try service.faults(bulletin)
                    bulletin = Sample.texts(title: "t", body: text)
                    bulletin.notice.links = PageLink.fitting([
                        PageLink(label: "&" + Self.family, url: "https://e.org/?a&b"),
                        PageLink(label: text, url: "https://e.org/"),
                    ])
                    faults += try service.faults(bulletin)
                    bulletin.notice.markup = .markdown
                    faults += try service.faults(bulletin)
                    if fill == "a" { faults += try service.faults(Sample.failure(text: text)) }
                    #expect(faults.isEmpty, "\(limit + more) \(fill): \(faults)")
                }
            }
        }
    }

    @Test func `is read strictly`() {
        let schema = Published.object(["a*": .text(1...2), "b": .list(0...1, .int(0...9))])
        func faults(_ text: String) -> Int {
            JSON(parsing: Array(text.utf8)[...]).map { schema.faults(in: $0).count } ?? -1
        }
        #expect(faults(#"{"a":"x"}"#) == 0 && faults(#"{"a":"xy","b":[9]}"#) == 0)
        #expect(faults(#"{"a":""}"#) == 1 && faults(#"{"a":"xyz"}"#) == 1 && faults("{}") == 1)
        #expect(faults(#"{"a":"x","c":1}"#) == 1 && faults(#"{"a":"x","a":"y"}"#) == 1)
        #expect(faults(#"{"a":"x","b":[1,10]}"#) == 2 && faults(#"{"a":1,"b":{}}"#) == 2 && faults("[]") == 1)
        let html = Published.html(["b", "a"], 1...3)
        func isHTML(_ text: String) -> Bool { html.faults(in: .string(text)).isEmpty }
        #expect(
            isHTML("<b>a&amp;</b>") && isHTML("<a href=\"x\">y</a>") && !isHTML("<b>a") && !isHTML("a & b"))
        #expect(!isHTML("<i>a</i>") && !isHTML("<b>a</a>") && !isHTML("abcd") && !isHTML("a > b"))
    }
}
