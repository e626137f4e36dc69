import API
import Delivery
import Grouping
import Ledger
import Testing
import Timeline

@testable import APIServer

@Suite struct `the budget of requests` {
    /// Whether each of so many requests at one moment is allowed.
    private func taken(
        _ count: Int = 1, by visitor: String = "a", at now: Duration, from budget: inout RequestBudget
    ) -> [Bool] {
        (0..<count).map { _ in budget.take(for: visitor, at: now) }
    }

    @Test func `is sixty at once, and one more every five seconds`() {
        var budget = RequestBudget()
        let first = taken(61, at: .seconds(100), from: &budget)
        #expect(first == [Bool](repeating: true, count: 60) + [false])
        let early = taken(at: .milliseconds(104_999), from: &budget)
        #expect(early == [false])
        let later = taken(2, at: .seconds(105), from: &budget)
        #expect(later == [true, false])
        let other = taken(by: "b", at: .seconds(105), from: &budget)
        #expect(other == [true], "everybody has one of their own")
        let whole = taken(61, at: .seconds(1000), from: &budget)
        #expect(whole == first)
    }

    @Test func `remembers a bounded number of visitors, and the busiest longest`() {
        var budget = RequestBudget()
        _ = taken(60, by: "busy", at: .zero, from: &budget)
        for number in 0..<4500 { _ = taken(by: "\(number)", at: .seconds(1), from: &budget) }
        let busy = taken(by: "busy", at: .seconds(1), from: &budget)
        #expect(busy == [false])
    }
}

@Suite struct `a visitor that waits for its turn` {
    @Test func `waits five seconds for each request beyond its budget`() {
        var budget = RequestBudget()
        let first = (0..<60).map { _ in budget.delay(of: "a", at: .zero) }
        #expect(first.allSatisfy { $0 == .zero })
        #expect(budget.delay(of: "a", at: .zero) == .seconds(5))
        #expect(budget.delay(of: "a", at: .seconds(5)) == .seconds(5))
        #expect(budget.delay(of: "b", at: .seconds(5)) == .zero)
        #expect(budget.delay(of: "a", at: .seconds(17)) == .zero, "it slept longer than it had to")
    }
}

@Suite struct `the room in a budget` {
    @Test func `is looked at without taking anything`() {
        var budget = RequestBudget()
        for _ in 0..<100 { #expect(budget.hasRoom(for: "a", at: .zero)) }
        for _ in 0..<60 { _ = budget.take(for: "a", at: .zero) }
        #expect(!budget.hasRoom(for: "a", at: .zero))
        #expect(budget.hasRoom(for: "b", at: .zero))
        #expect(budget.hasRoom(for: "a", at: .seconds(5)))
    }
}

@Suite struct `a hook` {
    private let now = Moment(seconds: 1_700_000_000)

    private func head(_ fields: [(String, String)]) -> RequestHead {
        RequestHead(method: "POST", path: "/v1/hooks/deploy", fields: fields)
    }

    /// The example of GitHub's documentation.
    @Test func `of GitHub is known by the signature of its documentation`() {
        let proof = HookProof(signature: .github, secret: "It's a Secret to Everybody")
        let code = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        let good = head([("x-hub-signature-256", code)])
        #expect(proof.mark(of: good, body: Array("Hello, World!".utf8), now: now) != nil)
        #expect(proof.mark(of: good, body: Array("Hello, World?".utf8), now: now) == nil)
        for wrong in [
            String(code.dropLast()), code + "0", code.replacing("sha256=", with: "sha1="), "sha256=",
        ] {
            let head = head([("x-hub-signature-256", wrong)])
            #expect(proof.mark(of: head, body: Array("Hello, World!".utf8), now: now) == nil, "\(wrong)")
        }
    }

    @Test func `of GitLab is the same delivery when it is tried again`() {
        let proof = HookProof(signature: .gitlab, secret: "a secret that is long")
        let first = head([("x-gitlab-token", "a secret that is long"), ("idempotency-key", "1")])
        #expect(proof.mark(of: first, body: [], now: now) == "1")
        #expect(proof.mark(of: head([("x-gitlab-token", "another")]), body: [], now: now) == nil)
        #expect(proof.mark(of: head([]), body: [], now: now) == nil)
    }

    /// The secret is that of Slack's documentation, the codes are by Python's `hmac`.
    @Test func `of Slack is the same delivery when it is sent again with another time`() {
        let proof = HookProof(signature: .slack, secret: "8f742231b10e8888abcd99yyyzzz85a5")
        func mark(_ seconds: Int64, _ code: String, _ body: String) -> String? {
            let head = head([
                ("x-slack-request-timestamp", "\(seconds)"), ("x-slack-signature", "v0=\(code)"),
            ])
            return proof.mark(of: head, body: Array(body.utf8), now: now)
        }
        let event = #"{"type":"event_callback","event_id":"Ev08MFMKH6"}"#
        let first = "f63aa8c2501002db174120593440594f9e405856f24963491ad731bdf730c0e7"
        let again = "623142efbffb1c792907e7724b20f197ea41e0cfe4014e54dc24a245665a5651"
        #expect(mark(1_700_000_000, first, event) == "event Ev08MFMKH6")
        #expect(mark(1_700_000_060, again, event) == "event Ev08MFMKH6")
        #expect(mark(1_700_000_060, first, event) == nil)
        #expect(mark(.min, first, event) == nil && mark(.max, first, event) == nil)
        #expect(mark(1_700_000_000, first, event.replacing("Ev08", with: "Ev09")) == nil)
    }

    @Test func `of no service is let in without a field that claims it`() {
        for signature in HookSignature.allCases {
            #expect(!HookProof.isClaimed(signature, by: head([("authorization", "Bearer x")])))
        }
    }
}

@Suite struct `a publication` {
    private func published(_ fields: [(String, String)], _ body: String) throws -> NotifyRequest {
        let head = RequestHead(method: "POST", path: "/ops", fields: fields)
        return try Publication(topic: "ops", head, body: Array(body.utf8)).request()
    }

    /// The examples of ntfy's documentation, "Action buttons".
    @Test(arguments: [
        ("view, Open portal, https://home.nest.com/, clear=true", ["Open portal: https://home.nest.com/"]),
        ("action=view, label='Look ma, commas', url=https://ntfy.sh", ["Look ma, commas: https://ntfy.sh"]),
        ("http, Turn down, https://api.nest.com/, body='{\"temperature\": 65}'", []),
        (#"[{"action":"view","label":"Open","url":"https://a.example"}]"#, ["Open: https://a.example"]),
    ])
    func `has the buttons that open an address as lines`(actions: String, lines: [String]) throws {
        #expect(
            try published([("actions", actions)], "text").text == (["text"] + lines).joined(separator: "\n"))
    }

    @Test func `leads to the pages that its fields name, and to no other kind of address`() throws {
        let asked = try published(
            [
                ("click", "https://a.example/1"), ("attach", "https://a.example/x.png"),
                (
                    "actions",
                    "view, Graphs, https://a.example/g; view, Mail, mailto:a@b.example; http, Off, https://o.example"
                ),
            ], "text")
        #expect(asked.links?.map(\.label) == ["Open", "Graphs", "Attachment"])
        #expect(
            asked.links?.map(\.url) == [
                "https://a.example/1", "https://a.example/g", "https://a.example/x.png",
            ])
        #expect(asked.text.contains("Mail: mailto:a@b.example"))
        let same = [("click", "https://a.example"), ("actions", "view, Go, https://a.example")]
        #expect(try published(same, "text").links?.map(\.label) == ["Go"])
        #expect(try published([("click", "geo:1,2")], "text").links == nil)
    }

    @Test(arguments: ["\u{200B}", " ", "\u{202E}\u{2066}", "\u{FEFF}\u{00AD}"])
    func `is published without the button whose label nobody can see`(label: String) throws {
        let body = """
            {"topic":"ops","message":"text","actions":[{"action":"view","label":"\(label)","url":"https://a.example"},
            {"action":"view","label":"Open","url":"https://b.example"}]}
            """
        let asked = try Publication(json: Array(body.utf8)).request()
        #expect(asked.links?.map(\.label) == ["Open"])
        #expect(asked.text == "text\nOpen: https://b.example")
    }

    @Test(arguments: [
        ("min", "low"), ("2", "low"), ("default", "normal"), ("high", "normal"), ("5", "critical"),
        ("URGENT", "critical"),
    ])
    func `is as urgent as its priority`(priority: String, urgency: String) throws {
        #expect(try published([("x-priority", priority)], "text").urgency == urgency)
    }

    @Test func `decodes the words of its header fields`() throws {
        #expect(try published([("title", "=?UTF-8?Q?Gr=C3=BC=C3=9Fe_50%?=")], "a").title == "Grüße 50%")
        #expect(try published([("title", "=?UTF-8?B?8J+YhA==?= ok")], "a").title == "😄 ok")
        #expect(try published([("title", "=?broken?=")], "a").title == "=?broken?=")
    }

    @Test func `is refused for a topic that a part of the API has`() {
        for topic in ["v1", "healthz", "READYZ", "q", "metrics"] {
            let head = RequestHead(method: "POST", path: "/\(topic)", fields: [])
            #expect(throws: APIError.self) {
                try Publication(topic: topic, head, body: Array("a".utf8)).request()
            }
        }
    }
}

@Suite struct `a link to a question` {
    @Test func `leads to its question, and no other path does`() {
        let links = QuestionLinks(key: [UInt8](repeating: 7, count: 32))
        let path = links.path(of: "0190-a")
        #expect(links.question(atPath: path) == "0190-a")
        #expect(QuestionLinks(key: [UInt8](repeating: 8, count: 32)).question(atPath: path) == nil)
        #expect(links.question(atPath: path.replacing("0190-a", with: "0190-b")) == nil)
        for wrong in ["/q/", "/q/.", "/q/0190-a", "/q/0190-a.", path + "x", String(path.dropLast())] {
            #expect(links.question(atPath: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `shows what is asked as text, whatever it holds`() {
        let hostile = "<script>alert('1')</script> \"&"
        #expect(
            QuestionPage.escaped(hostile) == "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;&amp;")
        let question = Question(
            id: "1", bot: "ops", text: hostile, choices: ["<b>", "no"], askedAt: Moment(seconds: 0))
        guard case .whole(let status, _, let bytes, let fields) = QuestionPage.asking(question, first: .min)
        else {
            Issue.record("the page is no whole answer")
            return
        }
        let page = String(decoding: bytes, as: UTF8.self)
        #expect(status == 200 && !page.contains("<script") && !page.contains("<b>"))
        #expect(fields["content-security-policy"]?.contains("default-src 'none'") == true)
    }
}
