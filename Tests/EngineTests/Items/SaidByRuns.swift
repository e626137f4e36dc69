import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `what a run says` {
    private func say(_ text: String, run: String?, thread: String, on tower: Tower) async throws {
        _ = try await tower.control.post(run: nil) { id, now in
            Message(
                id: id, bot: "ops", thread: thread, text: text, at: now, urgency: .critical, run: run)
        }
    }

    @Test func `obeys the silences and the sound of its job`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            keepers: [.items, .surfaces, .slots], channels: [desk],
            routes: [Route(when: [.message, .failed], to: ["desk"])]
        ) { tower in
            _ = try await tower.control.add(
                .manual("backup").with { spec in
                    (spec.sounds, spec.preview) = (["sent": "/srv/alarm.oga"], "12")
                })
            _ = try await tower.control.addSilence(
                SilenceDraft(matchers: ["job=mail"], until: at("11:00:00"), by: "test"))
            try await say("silenced", run: "mail#3", thread: "a", on: tower)
            try await say("of nobody", run: nil, thread: "b", on: tower)
            let first = try #require(try await server.next())
            #expect(first.body == "of nobody" && first.hints["sound-name"] == "s:message-new-instant")
            try await say("eleven files are copied", run: "backup#1", thread: "c", on: tower)
            let second = try #require(try await server.next())
            #expect(second.hints["sound-file"] == "s:/srv/alarm.oga" && second.body == "eleven…")
            // What others say in the same thread is not the job's.
            try await say("one more", run: nil, thread: "c", on: tower)
            tower.clock.advance(by: .seconds(1))
            let third = try #require(try await server.next())
            #expect(third.body == "eleven files are copied\none more")
        }
    }

    @Test func `is routed by its job`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        var route = Route(when: [.message], to: ["desk"])
        route.about = [try Matcher("job=backup")]
        try await Tower.run(
            keepers: [.items, .surfaces], channels: [desk],
            routes: [route, Route(when: [.failed], to: ["desk"])]
        ) { tower in
            try await say("elsewhere", run: "mail#1", thread: "a", on: tower)
            try await say("here", run: "backup#1", thread: "b", on: tower)
            #expect(try await server.next()?.body == "here")
        }
    }
}
