import Prompting
import TestSupport
import Testing
import Timeline

@Suite struct `a conversation as a prompt` {
    private let newYork: ZoneRules
    private let conversation: Conversation

    init() throws {
        newYork = try SystemZones.zone("America/New_York")
        conversation = Conversation(zone: newYork)
    }

    private func at(_ text: String) throws -> Moment { try Moment(iso8601: text) }

    private func line(_ sender: String?, _ text: String, run: String? = nil) throws -> ThreadLine {
        ThreadLine(sender, at: try at("2024-01-01T18:30:00Z"), text, run: run)
    }

    @Test func `is the XML of agents md 1 7, byte for byte`() throws {
        let lines = [
            ThreadLine("Alice", at: try at("2024-01-01T18:30:00Z"), "hi & hello"),
            ThreadLine(
                "Carol", at: try at("2024-01-01T18:31:00Z"), "Yes",
                quote: .init(id: "42", sender: "Bob", text: "Are you coming?")),
        ]
        #expect(
            PromptXML.text(of: lines, zone: newYork) == """
                <context timezone="America/New_York" />
                <messages>
                <message sender="Alice" time="Jan 1, 2024, 1:30 PM">hi &amp; hello</message>
                <message sender="Carol" time="Jan 1, 2024, 1:31 PM" reply_to="42">
                  <quoted_message from="Bob">Are you coming?</quoted_message>Yes</message>
                </messages>
                """)
        #expect(
            PromptXML.text(of: [], zone: newYork)
                == "<context timezone=\"America/New_York\" />\n<messages>\n\n</messages>")
    }

    @Test(arguments: [
        ("2024-01-01T05:00:00Z", "Jan 1, 2024, 12:00 AM"), ("2024-07-04T16:05:00Z", "Jul 4, 2024, 12:05 PM"),
        ("2024-12-31T23:59:00Z", "Dec 31, 2024, 6:59 PM"),
    ])
    func `shows times as people there write them`(_ moment: String, _ shown: String) throws {
        let line = ThreadLine("a", at: try at(moment), "x")
        #expect(PromptXML.text(of: [line], zone: newYork).contains("time=\"\(shown)\">"))
    }

    @Test func `escapes what is said, and leaves apostrophes alone`() throws {
        let text = PromptXML.text(of: [try line("a\"b", "it's <b>&amp;\"</b>")], zone: newYork)
        #expect(text.contains("sender=\"a&quot;b\""))
        #expect(text.contains(">it's &lt;b&gt;&amp;amp;&quot;&lt;/b&gt;</message>"))
    }

    @Test func `names a reply whose message is not known any more`() throws {
        var line = try line("a", "Yes")
        line.quote = .init(id: "42")
        #expect(PromptXML.text(of: [line], zone: newYork).contains("reply_to=\"42\">Yes</message>"))
    }

    @Test func `shows a text file, and names any other`() throws {
        var line = try line("a", "look")
        line.file = .init(name: "b.txt", bytes: 4, text: "1<2\n")
        #expect(
            PromptXML.text(of: [line], zone: newYork)
                .contains(">look\n  <attachment name=\"b.txt\" bytes=\"4\">1&lt;2\n</attachment></message>"))
        line.file = .init(name: "b.png", bytes: 9)
        #expect(
            PromptXML.text(of: [line], zone: newYork)
                .contains("<attachment name=\"b.png\" bytes=\"9\" /></message>"))
    }

    @Test func `takes turns, a person first`() throws {
        let before = [
            try line("user", "one", run: "r1"), try line("user", "two", run: "r2"),
            try line(nil, "first", run: "r1"), try line(nil, "second", run: "r2"),
            try line(nil, "a notice"),
        ]
        let turns = conversation.turns(
            before: before, asked: [try line("user", "three")], reactions: ["[USER_REACTION: ok] to: first"])
        #expect(turns.map(\.speaker) == [.user, .assistant, .user, .assistant, .user])
        // What was said while the bot wrote its first reply belongs to the second one.
        #expect(text(turns[0]).contains(">one<") && !text(turns[0]).contains(">two<"))
        #expect(text(turns[1]) == "first")
        #expect(text(turns[2]).contains(">two<"))
        #expect(text(turns[3]) == "second\n\na notice")
        #expect(text(turns[4]).hasSuffix("</messages>\n[USER_REACTION: ok] to: first"))
    }

    @Test func `begins with a person's turn where the bot spoke first`() throws {
        let turns = conversation.turns(
            before: [try line(nil, "The backup failed.", run: "j1")], asked: [try line("user", "why?")])
        #expect(turns.map(\.speaker) == [.user, .assistant, .user])
    }

    @Test func `leaves the oldest out where there is too much`() throws {
        let long = String(repeating: "x", count: Conversation.byteLimit / 2)
        var before: [ThreadLine] = []
        for number in 0..<4 {
            before.append(try line("user", "q\(number)", run: "r\(number)"))
            before.append(try line(nil, "a\(number) " + long, run: "r\(number)"))
        }
        let turns = conversation.turns(before: before, asked: [try line("user", "now")])
        #expect(turns.count == 3 && text(turns[0]).contains(">q3<") && text(turns[1]).hasPrefix("a3 "))
        let many = try (0..<200).flatMap { number in
            [try line("user", "q", run: "r\(number)"), try line(nil, "a", run: "r\(number)")]
        }
        let bounded = conversation.turns(before: many, asked: [try line("user", "now")])
        #expect(bounded.count == Conversation.turnLimit + 1 && bounded.first?.speaker == .user)
    }

    @Test(arguments: [
        ("  Yes. \n", "Yes."), ("<internal>hm\nhm</internal>Yes", "Yes"),
        ("<internal>all of it</internal>", ""),
        ("a<internal>1</internal>b<internal>2</internal>c", "abc"), ("a <internal>open", "a"),
    ])
    func `replies only with what is not internal`(_ reply: String, _ visible: String) {
        #expect(SpokenReply.visible(reply) == visible)
    }

    private func text(_ turn: Turn) -> String {
        turn.parts.map { part in if case .text(let text) = part { text } else { "" } }.joined()
    }
}

@Suite struct `a mention of a bot` {
    @Test(
        arguments: [
            ("@local what do you think?", ["local"]), ("ask @Sage, then @local.", ["sage", "local"]),
            ("me@local.example and @@local", []), ("@locals @unknown @", []), ("@local @local", ["local"]),
            ("(@my-bot)", ["my-bot"]), ("mail@x @local", ["local"]),
        ] as [(String, [String])])
    func `is its name after an at sign`(_ text: String, _ names: [String]) {
        #expect(Mentions.names(in: text, among: ["local", "sage", "my-bot"]) == names)
    }
}
