import OpenClaw
import Testing
import Timeline
import Tracking

@Suite struct `the text of a reply` {
    private func event(_ state: String, _ seq: Int, _ more: String = "") throws -> ChatEvent {
        try #require(
            ChatEvent(
                json(
                    #"{"runId":"k1","sessionKey":"agent:main:main","seq":\#(seq),"state":"\#(state)"\#(more)}"#
                )))
    }

    private func whole(_ text: String) -> String {
        #","message":{"role":"assistant","content":[{"type":"text","text":"\#(text)"}]}"#
    }

    @Test func `grows by what is new of version 3's whole texts`() throws {
        var reply = ChatAssembly()
        #expect(reply.receive(try event("delta", 3, whole("He"))) == [.appended("He")])
        #expect(reply.receive(try event("delta", 4, whole("Hello"))) == [.appended("llo")])
        #expect(reply.receive(try event("delta", 5, whole("Hello"))) == [])
        #expect(
            reply.receive(try event("final", 6, whole("Hello you"))) == [.appended(" you"), .ended(.final)])
        #expect(reply.text == "Hello you")
    }

    @Test func `grows by version 4's pieces, and is replaced where that is said`() throws {
        var reply = ChatAssembly()
        #expect(reply.receive(try event("delta", 3, #","deltaText":"Hel""#)) == [.appended("Hel")])
        #expect(reply.receive(try event("delta", 4, #","deltaText":"lo""#)) == [.appended("lo")])
        #expect(
            reply.receive(try event("delta", 5, #","deltaText":"Bye","replace":true"#)) == [.replaced("Bye")])
        #expect(reply.receive(try event("final", 6)) == [.ended(.final)])
        #expect(reply.text == "Bye")
    }

    @Test func `is whole in the end although a piece was lost`() throws {
        var reply = ChatAssembly()
        _ = reply.receive(try event("delta", 3, #","deltaText":"One ""#))
        let changes = reply.receive(try event("delta", 9, #","deltaText":"three""# + whole("One two three")))
        #expect(changes == [.appended("two three")])
        _ = reply.receive(try event("delta", 12, #","deltaText":" five""#))
        #expect(
            reply.receive(try event("final", 13, whole("One two three four five"))).first
                == .replaced("One two three four five"))
    }

    @Test func `ignores what is old, late or repeated`() throws {
        var reply = ChatAssembly()
        _ = reply.receive(try event("delta", 5, #","deltaText":"A""#))
        #expect(reply.receive(try event("delta", 5, #","deltaText":"A""#)) == [])
        #expect(reply.receive(try event("delta", 4, #","deltaText":"B""#)) == [])
        #expect(reply.receive(try event("final", 6)) == [.ended(.final)])
        #expect(reply.receive(try event("final", 7, whole("Other"))) == [])
        #expect(reply.receive(try event("error", 8)) == [] && reply.text == "A")
    }

    @Test func `is nothing where the agent had nothing to say`() throws {
        var reply = ChatAssembly()
        _ = reply.receive(try event("delta", 1, #","deltaText":"NO_""#))
        #expect(reply.receive(try event("final", 4)) == [.replaced(""), .ended(.final)])
        #expect(reply.text == "")
    }

    @Test func `ends with a failure or an abort, and keeps what was said`() throws {
        var failed = ChatAssembly()
        #expect(
            failed.receive(try event("error", 2, #","errorMessage":"rate limited","errorKind":"rate_limit""#))
                == [.ended(.failed(message: "rate limited", kind: "rate_limit"))])
        var aborted = ChatAssembly()
        _ = aborted.receive(try event("delta", 1, #","deltaText":"Half""#))
        #expect(
            aborted.receive(try event("aborted", 2, #","stopReason":"rpc""#)) == [
                .ended(.aborted(reason: "rpc"))
            ])
        #expect(aborted.text == "Half")
    }

    @Test func `is read from rows of old gateways, too`() {
        #expect(ChatEvent.text(of: json(#"{"content":"plain"}"#)) == "plain")
        #expect(ChatEvent(json(#"{"runId":"k","state":"thinking"}"#)) == nil)
    }
}

@Suite struct `a prompt that was perhaps sent` {
    private static let sent = Moment(seconds: 1_793_000_000)

    private func after(
        _ wait: String, _ rows: String..., info: String = "", sent: Moment = Self.sent,
        earlier: [SentPrompt] = [], ahead: Duration = .zero
    ) -> RunRecovery {
        RunRecovery(
            "k1", message: "How is it?", sent: sent, wait: RunWaitResult(json(#"{"status":"\#(wait)"}"#)),
            history: SessionHistory(json(#"{"messages":[\#(rows.joined(separator: ","))]\#(info)}"#)),
            earlier: earlier, ahead: ahead)
    }

    private func row(_ role: String, _ text: String, at seconds: Int64 = 1_793_000_005) -> String {
        #"{"role":"\#(role)","content":[{"type":"text","text":"\#(text)"}],"timestamp":\#(seconds * 1000)}"#
    }

    private let idle = #","sessionInfo":{"hasActiveRun":false,"activeRunIds":[]}"#

    @Test func `is sent again only where it never arrived`() {
        #expect(after("timeout") == .neverSent)
        #expect(after("timeout", row("user", "Another"), row("assistant", "Yes")) == .neverSent)
        // The same words of long ago are another prompt.
        #expect(after("timeout", row("user", "How is it?", at: 1_792_000_000)) == .neverSent)
        #expect(after("timeout", row("user", "How is it?")) == .isRunning)
        #expect(after("timeout", row("user", "[Mon 10:00] How is it?")) == .isRunning)
    }

    @Test func `is found where the gateway's clock is wrong`() {
        let said = row("user", "How is it?", at: 1_793_000_005 - 900)
        #expect(after("timeout", said) == .neverSent)
        #expect(after("timeout", said, ahead: .seconds(-900)) == .isRunning)
        let before = row("user", "How is it?", at: 1_793_000_005 + 300)
        #expect(after("timeout", before, ahead: .seconds(900)) == .neverSent)
    }

    @Test func `is not taken for the same words a minute before`() {
        var before = SentPrompt("How is it?", to: "s", at: Self.sent - .seconds(60))
        let rows = [
            row("user", "How is it?", at: 1_792_999_941), row("assistant", "Rain.", at: 1_792_999_950),
        ]
        // Nobody knows whether the gateway had that one.
        #expect(after("timeout", rows[0], rows[1], earlier: [before]) == .replied("Rain."))
        before.isTaken = true
        #expect(after("timeout", rows[0], rows[1], earlier: [before]) == .neverSent)
        #expect(after("timeout", rows[0], rows[1], info: idle, earlier: [before]) == .neverSent)
        #expect(
            after(
                "timeout", rows[0], rows[1], row("user", "How is it?"), row("assistant", "Fine."),
                earlier: [before]) == .replied("Fine."))
        // One that was sent later is none before it.
        before.at = Self.sent + .seconds(9)
        #expect(after("timeout", row("user", "How is it?"), info: idle, earlier: [before]) == .lost)
        // Long ago it was another row.
        before.at = Self.sent - .seconds(900)
        #expect(after("timeout", row("user", "How is it?"), info: idle, earlier: [before]) == .lost)
    }

    @Test(arguments: ["Rain.", "Sun."])
    func `has no reply of the prompt before it, whatever is known of those before that`(last: String) {
        func prompt(_ seconds: Int64, _ reply: String?) -> SentPrompt {
            var prompt = SentPrompt("How is it?", to: "s", at: Self.sent - .seconds(seconds))
            prompt.isTaken = reply != nil
            prompt.end = reply.map { .init($0, at: prompt.at + .seconds(1)) }
            return prompt
        }
        func asked(_ seconds: Int64) -> String { row("user", "How is it?", at: 1_793_000_000 - seconds) }
        func said(_ text: String, _ seconds: Int64) -> String {
            row("assistant", text, at: 1_793_000_000 - seconds)
        }
        // The gateway was killed while it was at work on the second one, and nobody here knows that it had it.
        let earlier = [prompt(9, "Rain."), prompt(6, nil), prompt(3, last)]
        let rows = [asked(9), said("Rain.", 8), asked(6), asked(3), said(last, 2)]
        func found(_ rows: [String], _ earlier: [SentPrompt]) -> RunRecovery {
            after("timeout", rows.joined(separator: ","), info: idle, earlier: earlier)
        }
        #expect(found(rows, earlier) == .neverSent)
        #expect(found(rows + [asked(0)], earlier) == .lost)
        #expect(found(rows + [asked(0), said(last, -1)], earlier) == .replied(last))
        // It never had the second one.
        let without = Array(rows[..<2] + rows[3...])
        #expect(found(without, earlier) == .neverSent)
        #expect(found(without + [asked(0), said(last, -1)], earlier) == .replied(last))
        // It shows the reply in other words: a row of ours is not taken for the one before, so that nothing is sent twice.
        let other = [asked(3), said("Hail.", 2), asked(0), said(last, -1)]
        #expect(found(other, [prompt(3, last)]) == .replied(last))
    }

    @Test func `has its reply where the gateway has one`() {
        let (asked, said) = (row("user", "How is it?"), row("assistant", "Fine."))
        #expect(after("ok", asked, said) == .replied("Fine."))
        #expect(after("timeout", asked, said) == .replied("Fine."))
        #expect(after("ok", asked, said, row("user", "Next"), row("assistant", "No")) == .replied("Fine."))
        #expect(after("ok", asked) == .replied(""))
        #expect(after("error") == .failed(""))
    }

    @Test func `is under way or lost as the gateway says`() {
        let asked = row("user", "How is it?")
        #expect(after("timeout", info: #","inFlightRun":{"runId":"k1"}"#) == .isRunning)
        #expect(after("timeout", asked, info: idle) == .lost)
        #expect(after("timeout", info: idle) == .neverSent)
        // What the gateway does not show may have been said before all that it shows.
        #expect(after("timeout", row("user", "New"), info: #","hasMore":true"#) == .notShown)
    }
}
