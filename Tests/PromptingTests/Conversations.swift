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

    private func text(_ turn: SpokenTurn) -> String {
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

@Suite struct `a conversation that gets long` {
    private func line(_ number: Int64, _ sender: String?, _ text: String, run: String?) -> ThreadLine {
        var line = ThreadLine(sender, at: Moment(seconds: 1_793_000_000), text, run: run)
        line.number = number
        return line
    }

    /// So many questions with their answers, each of so many bytes.
    private func exchanges(_ count: Int, bytes: Int) -> [ThreadLine] {
        let text = String(repeating: "x", count: bytes)
        return (1...count).flatMap { number in
            [
                line(Int64(2 * number - 1), "user", "q\(number) \(text)", run: "r\(number)"),
                line(Int64(2 * number), nil, "a\(number) \(text)", run: "r\(number)"),
            ]
        }
    }

    private func text(_ turns: [SpokenTurn]) -> String {
        turns.flatMap(\.parts).map { part in if case .text(let text) = part { text } else { "" } }.joined()
    }

    @Test func `is left alone while there is room`() {
        let conversation = Conversation(zone: .utc, limit: 10_000)
        #expect(conversation.compaction(of: exchanges(3, bytes: 1000)) == nil)
        #expect(Conversation(zone: .utc).compaction(of: exchanges(22, bytes: 10)) == nil)
        #expect(conversation.compaction(of: []) == nil)
    }

    @Test func `has its older half summarized when three quarters of the bytes are used`() throws {
        let conversation = Conversation(zone: .utc, limit: 10_000)
        let lines = exchanges(4, bytes: 1000)
        let compaction = try #require(conversation.compaction(of: lines))
        #expect(compaction.count == 4 && compaction.through == 4)
        #expect(compaction.turns.map(\.speaker) == [.user, .assistant, .user, .assistant])
        #expect(text(compaction.turns).contains(">q1 ") && !text(compaction.turns).contains(">q3 "))
    }

    @Test func `has it summarized also when the turns or the messages are many`() throws {
        let turns = try #require(Conversation(zone: .utc).compaction(of: exchanges(23, bytes: 10)))
        #expect(turns.count == 16)
        let talk = (1...91).map { line($0, $0 == 90 ? nil : "user", "x", run: "r1") }
        #expect(Conversation(zone: .utc).compaction(of: talk)?.through == 90)
    }

    @Test func `separates no question from its answer`() throws {
        let conversation = Conversation(zone: .utc, limit: 4000)
        let long = String(repeating: "x", count: 800)
        let lines = [
            line(1, "user", "q1 \(long)", run: "r1"), line(2, "user", "q2 \(long)", run: "r2"),
            line(3, nil, "a1 \(long)", run: "r1"), line(4, nil, "a2 \(long)", run: "r2"),
            line(5, "user", "q3 \(long)", run: "r3"), line(6, nil, "a3", run: "r3"),
        ]
        #expect(conversation.compaction(of: lines)?.through == 4)
        // What was said meanwhile, and is answered now, stays to be seen.
        #expect(conversation.compaction(of: lines, asked: 4) == nil)
        #expect(conversation.compaction(of: [line(1, "user", long + long + long + long, run: "r1")]) == nil)
    }

    @Test func `begins with the summary, in the turn of a person`() {
        let turns = SummaryText.leading("Tea.", [SpokenTurn(.user, "one"), SpokenTurn(.assistant, "two")])
        #expect(turns.map(\.speaker) == [.user, .assistant])
        #expect(
            turns.first
                == SpokenTurn(
                    .user, "[SUMMARY OF WHAT WAS SAID BEFORE]\n\nTea.\n\n[END OF THE SUMMARY]\n\none"))
        #expect(
            SummaryText.leading("Tea.", [SpokenTurn(.assistant, "two")]).map(\.speaker) == [
                .user, .assistant,
            ])
        #expect(SummaryText.leading(nil, [SpokenTurn(.user, "one")]) == [SpokenTurn(.user, "one")])
    }

    @Test func `keeps of a summary what fits, and nothing of none`() {
        #expect(SummaryText.kept(of: " <internal>hm</internal>\n") == nil)
        #expect(SummaryText.kept(of: "<internal>hm</internal> Tea. ") == "Tea.")
        let long = SummaryText.kept(of: String(repeating: "x", count: 1 << 20))
        #expect(long?.utf8.count == SummaryText.limit + 3)
    }
}
