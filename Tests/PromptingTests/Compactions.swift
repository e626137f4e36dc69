import Prompting
import TestSupport
import Testing
import Timeline

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

    private func text(_ turns: [Turn]) -> String {
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
        let turns = SummaryText.leading("Tea.", [Turn(.user, "one"), Turn(.assistant, "two")])
        #expect(turns.map(\.speaker) == [.user, .assistant])
        #expect(
            turns.first
                == Turn(.user, "[SUMMARY OF WHAT WAS SAID BEFORE]\n\nTea.\n\n[END OF THE SUMMARY]\n\none"))
        #expect(SummaryText.leading("Tea.", [Turn(.assistant, "two")]).map(\.speaker) == [.user, .assistant])
        #expect(SummaryText.leading(nil, [Turn(.user, "one")]) == [Turn(.user, "one")])
    }

    @Test func `keeps of a summary what fits, and nothing of none`() {
        #expect(SummaryText.kept(of: " <internal>hm</internal>\n") == nil)
        #expect(SummaryText.kept(of: "<internal>hm</internal> Tea. ") == "Tea.")
        let long = SummaryText.kept(of: String(repeating: "x", count: 1 << 20))
        #expect(long?.utf8.count == SummaryText.limit + 3)
    }
}
