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

    private func sent(_ text: String, at seconds: Int64) -> SentPrompt {
        SentPrompt(text, to: "s", at: Self.start + .seconds(seconds))
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
    }
}
