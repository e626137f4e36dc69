import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the commands of delivery` {
    @Test func `send an entry again at once, or give it up`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "400,400,204")
        let belfry = try await Belfry.start(hook: hook)
        try await belfry.run("notify", "first", "--bot", "a", "--urgency", "critical")
        let first = try await hook.webhook()
        try await belfry.run("notify", "second", "--bot", "b", "--urgency", "critical")
        let second = try await hook.webhook()
        // What came of an attempt is recorded after its answer.
        try await belfry.until {
            try await belfry.json("outbox", "list").list.count { $0["attempts"].integer == 1 } == 2
        }
        #expect(try await belfry.run("outbox", "discard", second.id).code == 0)
        #expect(try await belfry.run("outbox", "retry", first.id).code == 0)
        #expect(try await hook.webhook().id == first.id)
        try await belfry.until {
            try await belfry.json("outbox", "--state", "delivered").list.map { $0["id"].text } == [first.id]
        }
        try await belfry.run("notify", "third", "--bot", "c", "--urgency", "critical")
        #expect(try await hook.webhook().data["item"]["bot"].text == "c")
        let entries = try await belfry.json("outbox", "list").list
        let states = Dictionary(uniqueKeysWithValues: entries.map { ($0["id"].text ?? "", $0["state"].text) })
        #expect(states[first.id] == "delivered")
        #expect(states[second.id] == "discarded")
        #expect(try await belfry.json("outbox", "--state", "discarded").list.count == 1)
        for verb in ["retry", "discard"] {
            #expect(try await belfry.run("outbox", verb, first.id).code == 5)
            #expect(try await belfry.run("outbox", verb, "01900000-0000-7000-8000-000000000000").code == 4)
        }
    }

    @Test func `explain why something rang, and why something else did not`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(hook: hook)
        try await belfry.run("notify", "the disk is full", "--bot", "ops", "--urgency", "critical")
        let entry = try await hook.webhook().id
        let message = try #require(try await belfry.json("messages", "ops").list.first?["id"].text)
        for id in [message, entry, "thread:ops/main"] {
            let verdict = try #require(try await belfry.json("why", id).list.first)
            #expect(verdict["channel"].text == "hook" && verdict["action"].text == "send", "\(id)")
            #expect(verdict["stage"].text == "route" && verdict["reason"].text == "first", "\(id)")
            #expect(verdict["type"].text == "message.posted" && verdict["at"].text != nil, "\(id)")
        }
        try await belfry.run("notify", "another", "--bot", "b", "--urgency", "critical")
        _ = try await hook.webhook()
        // The receipt follows the answer.
        try await belfry.until { try await belfry.json("outbox", "--state", "delivered").list.count == 2 }
        let shown = try await belfry.run("why", message)
        #expect(shown.lines.last?.contains("sent: the first unread message") == true)
        #expect(try await belfry.run("why", message, "--not").lines == ["Nothing was held back."])
        #expect(
            try await belfry.run("exec", "--name", "quiet", "--notify", "never", "--", "false").code == 1)
        _ = try await belfry.events().event("run.failed")
        // It is judged after it has happened.
        try await belfry.until { try await !belfry.json("why", "quiet#1", "--not").list.isEmpty }
        let kept = try await belfry.json("why", "quiet#1", "--not").list
        #expect(kept.contains { $0["type"].text == "run.failed" && $0["reason"].text == "notWished" })
        #expect(kept.allSatisfy { $0["action"].text == "suppress" })
        #expect(try await belfry.run("why", "quiet#7").code == 4)
    }

    @Test func `try a channel and show the result`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "204,410")
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(bus: bus, hook: hook)
        let good = try await belfry.run("channel", "test", "hook", "--json")
        #expect(good.code == 0)
        #expect(try good.json()["outcome"].text == "delivered")
        #expect(try await hook.webhook().type == "test")
        let shown = try await belfry.run("channel", "test", "desk")
        #expect(shown.code == 0)
        #expect(try await server.next()?.body.contains("desk") == true)
        let bad = try await belfry.run("channel", "test", "hook", "--json")
        #expect(bad.code == 1)
        #expect(try bad.json()["outcome"].text == "failed")
        let unknown = try await belfry.run("channel", "test", "hok")
        #expect(unknown.code == 4)
        #expect(unknown.errors.contains("Did you mean \"hook\"?"))
        let channels = try await belfry.json("channel", "list").list
        #expect(channels.map { $0["name"].text } == ["desk", "hook"])
        try await belfry.until {
            try await belfry.json("channel", "list").list.first?["state"].text == "working"
        }
    }

    @Test func `show what is being sent`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "hang")
        let belfry = try await Belfry.start(hook: hook)
        try await belfry.run("notify", "first", "--bot", "a", "--urgency", "critical")
        let first = try await hook.webhook()
        let sending = try await belfry.json("outbox", "--state", "sending").list
        #expect(sending.map { $0["id"].text } == [first.id])
        #expect(sending.first?["state"].text == "sending")
        #expect(try await belfry.json("outbox").list.first?["state"].text == "sending")
        #expect(try await belfry.json("outbox", "--state", "pending").list.isEmpty)
        #expect(try await belfry.run("outbox", "--state", "odd").code == 2)
    }

    @Test func `report it when nothing is known of a test yet`() async throws {
        // There is a bus, and nobody on it who would show anything.
        let belfry = try await Belfry.start()
        let answer = try await belfry.run("channel", "test", "desk", "--json")
        #expect(answer.code == 6)
        #expect(try answer.json()["outcome"].text == "pending")
        let detail = try #require(try answer.json()["detail"].text)
        #expect(detail.hasPrefix("nobody has shown it after "))
        #expect(detail.contains("when a notification server"))
        #expect(!detail.contains("ms"))
    }

    @Test func `list events from any number on`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              job: { schedule: manual, command: ["true"] }
            """)
        try await belfry.run("run", "job", "--follow")
        let all = try belfry.events()
        let started = try await all.event("run.started")
        let completed = try await all.event("run.completed")
        let seq = try #require(started["seq"].integer)
        #expect(try #require(completed["seq"].integer) > seq)
        #expect(started["name"].text == "job#1")
        #expect(try await belfry.run("exec", "--name", "odd", "--", "false").code == 1)
        let listing = try ChildProcess(
            BuiltProgram.path("belfry"), ["events", "--since", "0"], environment: belfry.environment)
        let line = try #require(await listing.line { $0.contains("run.failed") })
        #expect(line.contains("odd#1") && line.contains("exit code"))
        let later = try belfry.feed("events", "--since", "\(seq)")
        #expect(try await later.next() == completed)
    }
}
