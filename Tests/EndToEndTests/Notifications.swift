import TestSupport
import Testing

/// What a notification server gets to see, while servers and daemons come and go.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a notification server` {
    @Test func `that comes late is shown what nobody has read, as it is now`() async throws {
        let bus = try await PrivateBus.start()
        let belfry = try await Belfry.start(bus: bus)
        for number in 1...4 {
            try await belfry.run("notify", "news \(number)", "--bot", "ops", "--urgency", "critical")
        }
        let read = try await belfry.json("notify", "old news", "--bot", "other", "--urgency", "critical")
        try await belfry.run("read", read["id"].text ?? "")
        let server = try await NotificationServer.start(at: bus.address)
        var shown = try #require(try await server.next())
        // An item is updated once a second at most: a server that comes sooner sees how it was, and then how it is.
        while !shown.body.contains("news 4") {
            let first = shown.id
            shown = try #require(try await server.next())
            #expect(shown.replacesID == first)
        }
        #expect(!shown.body.contains("news 1"))

        // The server dies and comes back: once more, and as one item.
        await server.process.end()
        let next = try await NotificationServer.start(at: bus.address)
        let again = try #require(try await next.next())
        #expect(again.replacesID == 0)
        #expect(again.body == shown.body)
        try await belfry.run("notify", "last words", "--bot", "third", "--urgency", "critical")
        #expect(try await next.next()?.body.contains("last words") == true)
    }

    @Test func `is not shown again by a daemon that was killed`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(bus: bus)
        try await belfry.run("notify", "before", "--bot", "ops", "--urgency", "critical")
        let before = try #require(try await server.next())
        // The receipt is written once the server has answered; the test channel comes after it.
        #expect(try await belfry.run("channel", "test", "desk").code == 0)
        _ = try await server.next()
        try await belfry.restart()
        try await belfry.run("notify", "after", "--bot", "ops", "--urgency", "critical")
        var after = try #require(try await server.next())
        // What was shown may be painted over in place, never beside itself.
        while !after.body.contains("after") {
            #expect(after.replacesID != 0)
            after = try #require(try await server.next())
        }
        #expect(after.replacesID == before.id)
        #expect(after.body.contains("before"))
    }

    @Test func `sees progress turn into the result, in one item`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try Belfry(
            """
            jobs:
              climb:
                schedule: manual
                env: { GATE: \(gate.path) }
                shell: 'systemd-notify X_PROGRESS=2/5; read line < "$GATE"; exit 3'
            """, bus: bus, in: folder)
        try await belfry.start()
        try await belfry.run("run", "climb")
        var call = try #require(try await server.next())
        let first = call
        while call.hints["value"] != "i:40" {
            call = try #require(try await server.next())
            #expect(call.replacesID == first.id)
        }
        #expect(call.icon == "appointment-soon" && call.hints["urgency"] == "y:0")
        try gate.open()
        while !(call.summary + call.body).contains("failed") {
            call = try #require(try await server.next())
            #expect(call.replacesID == first.id)
        }
        #expect(call.hints["value"] == nil)
        #expect(call.hints["desktop-entry"] == "s:belfry")
        // It stays until somebody closes it.
        #expect(call.icon == "dialog-error" && call.hints["urgency"] == "y:2" && call.expiry == 0)
    }

    @Test func `sees who speaks and what happened, as bots and jobs are set to look`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(
            """
            bots:
              ops: { notifications: { icon: /usr/share/pixmaps/an owl.png, urgency: critical } }
            jobs:
              calm: { schedule: manual, shell: exit 1, notify: { urgency: normal, icon: drive-harddisk } }
            """, bus: bus)
        try await belfry.run("notify", "Deploy:\n  nodes  12\n  errors  0", "--bot", "ops")
        let message = try #require(try await server.next())
        #expect(message.body == "Deploy:\n  nodes  12\n  errors  0")
        #expect(message.icon == "file:///usr/share/pixmaps/an%20owl.png")
        #expect(message.hints["image-path"] == "s:" + message.icon)
        #expect(message.hints["urgency"] == "y:2")
        try await belfry.run("notify", "quietly", "--bot", "web", "--urgency", "low")
        #expect(try await server.next()?.icon == "mail-unread")

        try await belfry.run("run", "calm", "--follow")
        var call = try #require(try await server.next())
        while !(call.summary + call.body).contains("failed") { call = try #require(try await server.next()) }
        #expect(call.icon == "drive-harddisk" && call.hints["urgency"] == "y:1" && call.expiry == -1)
    }

    @Test func `removes an item when it was read`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(bus: bus)
        let said = try await belfry.json("notify", "read me", "--bot", "ops", "--urgency", "critical")
        let shown = try #require(try await server.next())
        try await belfry.run("read", said["id"].text ?? "")
        #expect(try await server.next("CloseNotification")?.id == shown.id)
    }

    @Test func `shows what a hanging receiver holds up`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let hook = try await Belfry.receiver("--status-plan", "hang")
        let belfry = try await Belfry.start(bus: bus, hook: hook)
        for number in 1...3 {
            try await belfry.run("notify", "number \(number)", "--bot", "b\(number)", "--urgency", "critical")
        }
        _ = try await hook.webhook()
        // Items have no order among each other.
        var shown: Set<String> = []
        for _ in 1...3 { shown.insert(try #require(try await server.next()).body) }
        for number in 1...3 { #expect(shown.contains { $0.contains("number \(number)") }) }
        // Nothing was given up: what hangs is still to be delivered.
        #expect(try await belfry.json("status")["outbox"]["pending"].integer == 3)
        #expect(try await belfry.stop() == 0)
    }
}
