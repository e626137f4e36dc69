import OpenClaw
import Testing
import Timeline
import Tracking

@Suite struct `a synced session` {
    private static let start = Moment(seconds: 1_793_000_000)

    private func row(_ role: String, _ text: String, at seconds: Int64, id: String? = nil) -> String {
        let own = id.map { #","__openclaw":{"id":"\#($0)"}"# } ?? ""
        return
            #"{"role":"\#(role)","content":"\#(text)","timestamp":\#((1_793_000_000 + seconds) * 1000)\#(own)}"#
    }

    private func history(_ rows: String...) -> SessionHistory {
        SessionHistory(json(#"{"messages":[\#(rows.joined(separator: ","))]}"#))
    }

    private func sent(
        _ text: String, at seconds: Int64, reply: String? = nil, endingAt end: Int64? = nil
    ) -> SentPrompt {
        var prompt = SentPrompt(text, to: "s", at: Self.start + .seconds(seconds))
        if let reply { prompt.end = .init(reply, at: Self.start + .seconds(end ?? seconds + 5)) }
        return prompt
    }

    @Test func `shows what was said elsewhere once, and never what Belfry sent`() {
        var sync = SessionSync()
        _ = sync.review(history(row("user", "Old", at: 0), row("assistant", "Yes", at: 1)), sent: [])
        let all = history(
            row("user", "Old", at: 0), row("assistant", "Yes", at: 1),
            row("user", "[Mon 10:00] How is it?", at: 10), row("toolResult", "x", at: 11),
            row("assistant", "Fine.", at: 12), row("user", "And there?", at: 20),
            row("assistant", "Rain.", at: 21, id: "m9"))
        let new = sync.review(all, sent: [sent("How is  it?", at: 9)])
        #expect(new.map(\.text) == ["And there?", "Rain."])
        #expect(new.map(\.isOfAgent) == [false, true] && new.last?.id == "m9")
        #expect(sync.review(all, sent: []) == [])
    }

    @Test func `knows its own prompt only once, and not by one of long ago`() {
        var sync = SessionSync()
        _ = sync.review(history(row("user", "a", at: 0)), sent: [])
        let twice = history(row("user", "Status?", at: 10), row("user", "Status?", at: 20))
        #expect(sync.review(twice, sent: [sent("Status?", at: 10)]).map(\.at) == [Self.start + .seconds(20)])
        var later = SessionSync()
        _ = later.review(history(row("user", "a", at: 0)), sent: [])
        let old = later.review(history(row("user", "Status?", at: 10)), sent: [sent("Status?", at: 500)])
        #expect(old.count == 1)
    }

    @Test func `takes over the end of a long history, and keeps how far it is`() throws {
        var sync = SessionSync()
        let rows = (0..<50).map { row("user", "m\($0)", at: Int64($0)) }
        let long = SessionHistory(json(#"{"messages":[\#(rows.joined(separator: ","))]}"#))
        #expect(sync.review(long, sent: []).count == 20)
        let kept = try #require(SessionSync(json(String(decoding: sync.json.bytes, as: UTF8.self))))
        #expect(kept == sync)
        var again = kept
        #expect(again.review(long, sent: []) == [])
        #expect(SessionSync(.null) == nil)
    }

    @Test func `is not misled by prompts of before the history that the gateway still shows`() {
        var sync = SessionSync()
        _ = sync.review(history(row("user", "a", at: 0)), sent: [])
        // What was sent an hour before the first row is cut off: the same words were said by somebody else.
        let cut = history(row("user", "Status?", at: 4000), row("assistant", "Fine.", at: 4001))
        #expect(sync.review(cut, sent: [sent("Status?", at: 100)]).map(\.text) == ["Status?", "Fine."])
        // One that is about as old as the first row is in it, whatever the clocks of both sides differ by.
        var near = SessionSync()
        _ = near.review(history(row("user", "a", at: 0)), sent: [])
        #expect(near.review(cut, sent: [sent("Status?", at: 3990)]) == [])
        // The reply to a prompt that is cut off is still the one that Belfry has.
        var reply = SessionSync()
        _ = reply.review(history(row("user", "a", at: 0)), sent: [])
        let rest = history(
            row("assistant", "It rains.", at: 4000), row("user", "And there?", at: 4001),
            row("assistant", "It rains.", at: 4002))
        let new = reply.review(rest, sent: [sent("How is it?", at: 100, reply: "It  rains.")])
        #expect(new.map(\.text) == ["And there?", "It rains."])
    }

    @Test func `shows what the agent says after its reply`() {
        let all = history(
            row("user", "How is it?", at: 10), row("assistant", "Let me see.", at: 11),
            row("toolResult", "x", at: 12), row("assistant", "Fine.", at: 13),
            row("assistant", "The build is done.", at: 60))
        func notes(_ prompt: SentPrompt) -> [String] {
            var sync = SessionSync()
            _ = sync.review(history(row("user", "a", at: 0)), sent: [])
            return sync.review(all, sent: [prompt]).map(\.text)
        }
        #expect(notes(sent("How is it?", at: 10, reply: "Fine.")) == ["The build is done."])
        // Nobody knows yet what of it is the reply.
        #expect(notes(sent("How is it?", at: 10)) == [])
        // Where the reply is not to be found, what comes long after its end is none of it.
        #expect(notes(sent("How is it?", at: 10, reply: "Other", endingAt: 20)) == [])
        #expect(
            notes(sent("How is it?", at: -200, reply: "Other", endingAt: -100)) == [
                "How is it?", "Let me see.", "Fine.", "The build is done.",
            ])
        var late = SessionSync()
        _ = late.review(history(row("user", "a", at: 0)), sent: [])
        let rows = history(
            row("user", "How is it?", at: 10), row("assistant", "Fine.", at: 13),
            row("assistant", "The build is done.", at: 141))
        let prompt = sent("How is it?", at: 10, reply: "Other", endingAt: 20)
        #expect(late.review(rows, sent: [prompt]).map(\.text) == ["The build is done."])
    }

    @Test(arguments: [600, -600, 86_400] as [Int64])
    func `is the same where the clocks of both sides differ`(ahead: Int64) {
        // All of it is the gateway's time.
        let all = history(
            row("user", "How is it?", at: 10 + ahead), row("assistant", "Fine.", at: 13 + ahead),
            row("assistant", "The build is done.", at: 300 + ahead), row("user", "Status?", at: 400 + ahead))
        let prompt = sent("How is it?", at: 10, reply: "Fine, all in all.", endingAt: 14)
        func texts(_ difference: Duration) -> [String] {
            var sync = SessionSync()
            _ = sync.review(history(row("user", "a", at: -90_000)), sent: [])
            return sync.review(all, sent: [prompt], ahead: difference).map(\.text)
        }
        #expect(texts(.seconds(ahead)) == ["The build is done.", "Status?"])
        // Where it is not known how much, a prompt of the same words is still found, and its reply is no note.
        if ahead == 600 {
            var sync = SessionSync()
            let older = row("user", "a", at: 0)
            _ = sync.review(history(older), sent: [])
            let rest = history(older, row("user", "How is it?", at: 610), row("assistant", "Fine.", at: 613))
            #expect(sync.review(rest, sent: [prompt]) == [])
        }
    }

    @Test func `leaves out what has no text or no time`() {
        var sync = SessionSync()
        _ = sync.review(history(row("user", "a", at: 0)), sent: [])
        let odd = SessionHistory(
            json(#"{"messages":[{"role":"user","content":"x"},{"role":"assistant"},7]}"#))
        #expect(sync.review(odd, sent: []) == [])
    }

    @Test func `knows what was sent from its file`() throws {
        let prompt = sent("How is it?", at: 3)
        #expect(SentPrompt(json(String(decoding: prompt.json.bytes, as: UTF8.self))) == prompt)
        let ended = sent("How is it?", at: 3, reply: "Fine.")
        #expect(SentPrompt(json(String(decoding: ended.json.bytes, as: UTF8.self))) == ended)
    }
}
