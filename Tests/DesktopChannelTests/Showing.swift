import Delivery
import DesktopChannel
import Grouping
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a notice on the desktop` {
    @Test func `arrives whole at a server that can do everything`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            let generation = try await scene.nextGeneration()
            var notice = makeNotice("Backup of /home", "41 % <done> & \"well\"\nübrig: 3 min")
            notice.urgency = .low
            notice.value = 41
            notice.category = "transfer"
            notice.soundName = "message-new-instant"
            notice.icon = "/usr/share/i ä.png"
            notice.actions = [.init(key: "default", label: "Open"), .init(key: "stop", label: "Stop")]
            notice.expireAfter = .milliseconds(2500)
            let remote = try await scene.desktop.show(notice, replacing: nil)
            #expect(remote == RemoteID(generation: generation, id: "1"))

            let call = try #require(try await server.next())
            #expect(call.appName == "Belfry")
            #expect(call.replacesID == 0)
            #expect(call.icon == "file:///usr/share/i%20%C3%A4.png")
            #expect(call.summary == "Backup of /home")
            #expect(call.body == "41 % &lt;done&gt; &amp; \"well\"\nübrig: 3 min")
            #expect(call.actions == ["default", "Open", "stop", "Stop"])
            #expect(call.expiry == 2500)
            #expect(
                call.hints == [
                    "urgency": "y:0", "value": "i:41", "desktop-entry": "s:belfry",
                    "x-kde-origin-name": "s:ops", "category": "s:transfer",
                    "x-canonical-private-synchronous": "s:belfry:job:home-backup",
                    "x-dunst-stack-tag": "s:belfry:job:home-backup",
                    "sound-name": "s:message-new-instant",
                    "image-path": "s:file:///usr/share/i%20%C3%A4.png",
                ])
        }
    }

    @Test func `sends no more than a small server understands`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(
            at: bus.address, "--capabilities", "", "--minimal")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            var notice = makeNotice("Backup", "a < b\nlater")
            notice.actions = [.init(key: "default", label: "Open")]
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.summary == "Backup: a < b later")
            #expect(call.body == "")
            #expect(call.actions == [])
        }
    }

    @Test func `is not escaped for a server that reads no markup`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--capabilities", "body")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            _ = try await scene.desktop.show(makeNotice("Hi", "a < b & c"), replacing: nil)
            #expect(try await server.next()?.body == "a < b & c")
        }
    }

    @Test func `that does not ring is silent, and one that stays is marked to stay`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            var notice = makeNotice()
            notice.ring = false
            notice.soundName = "bell"
            notice.urgency = .critical
            notice.isTransient = true
            notice.value = 250
            notice.expireAfter = .seconds(3)
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.hints["suppress-sound"] == "b:true")
            #expect(call.hints["sound-name"] == nil)
            #expect(call.hints["transient"] == "b:true")
            #expect(call.hints["urgency"] == "y:2")
            #expect(call.hints["value"] == "i:100")
            #expect(call.expiry == 0)
        }
    }

    @Test func `with bytes no server should see loses them and arrives`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            _ = try await scene.desktop.show(
                makeNotice("\0\u{1B}", "a\0b\u{7}\nc" + String(repeating: "é", count: 9000)), replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.summary == "ops")
            #expect(call.body.hasPrefix("ab\ncé"))
            #expect(call.body.count == 4000)
        }
    }

    @Test func `keeps its text beside the bar at xfce4-notifyd, which would hide it`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--name", "Xfce Notify Daemon")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            var notice = makeNotice("Backup", "41% · 3 min left")
            notice.value = 41
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.hints["value"] == nil)
            #expect(call.summary == "Backup")
            #expect(call.body == "██████░░░░░░░░░░\n41% · 3 min left")
        }
    }

    @Test func `has names without control characters, and none that is too long`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            var notice = makeNotice()
            (notice.icon, notice.category, notice.soundName) = ("di\0sk", "im\n.received", "\0")
            notice.tag = "thread:ops/\0\u{1B}a"
            notice.actions = [.init(key: "o\0k", label: "OK")]
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.icon == "disk" && call.hints["image-path"] == "s:disk")
            #expect(call.hints["category"] == "s:im.received")
            #expect(call.hints["sound-name"] == nil)
            #expect(call.hints["x-dunst-stack-tag"] == "s:belfry:thread:ops/a")
            #expect(call.actions == ["ok", "OK"])

            let long = String(repeating: "x", count: 5000)
            (notice.icon, notice.category, notice.soundName, notice.tag) = ("/" + long, long, long, long)
            notice.revision = 2
            _ = try await scene.desktop.show(notice, replacing: nil)
            let bare = try #require(try await server.next())
            #expect(
                bare.icon == ""
                    && bare.hints.keys.sorted() == ["desktop-entry", "urgency", "x-kde-origin-name"])
        }
    }

    @Test func `takes the place of its earlier version, and no earlier one takes its place`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--first-id", "7")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let first = try await scene.desktop.show(makeNotice("1"), replacing: nil)
            let third = try await scene.desktop.show(makeNotice("3", revision: 3), replacing: first)
            let second = try await scene.desktop.show(makeNotice("2", revision: 2), replacing: third)
            let fourth = try await scene.desktop.show(makeNotice("4", revision: 4), replacing: second)
            #expect([first.id, second.id, third.id, fourth.id] == ["7", "7", "7", "7"])
            for (summary, replaced) in [("1", 0), ("3", 7), ("4", 7)] as [(String, UInt32)] {
                let call = try await server.next()
                #expect(call?.summary == summary)
                #expect(call?.replacesID == replaced)
            }
        }
    }

    @Test func `counts as shown when Plasma says it is the same again`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            try await server.refuse("org.freedesktop.Notifications.Error.ExcessNotificationGeneration")
            #expect(try await scene.desktop.show(makeNotice(revision: 2), replacing: remote) == remote)
            let error = await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice(revision: 2), replacing: nil)
            }
            guard case .retry(.throttled, .some(.seconds(1)), _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: [
        ("org.freedesktop.DBus.Error.InvalidArgs", DeliveryReason.rejected, "giveUp"),
        ("org.freedesktop.DBus.Error.AccessDenied", .rejected, "giveUp"),
        ("org.example.Whatever", .rejected, "giveUp"),
        ("org.freedesktop.DBus.Error.LimitsExceeded", .throttled, "retry"),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .noServer, "unreachable"),
        ("org.freedesktop.DBus.Error.NoReply", .noServer, "unreachable"),
    ])
    func `that is refused shows whether to try again`(
        name: String, reason: DeliveryReason, kind: String
    ) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            try await server.refuse(name)
            let error = await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice(), replacing: nil)
            }
            #expect(error?.reason == reason)
            #expect(error.map { "\($0)".hasPrefix(kind) } == true)
            try await server.refuse(nil)
            _ = try await scene.desktop.show(makeNotice(), replacing: nil)
        }
    }

    @Test func `is closed by its id, and only in the life that gave it`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            let generation = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            await scene.desktop.close(RemoteID(generation: "another life", id: "9"))
            await scene.desktop.close(remote)
            #expect(try await server.next("CloseNotification")?.id == 1)
            #expect(await scene.next() == .closed(remote, .closedByUs, revision: nil))
            #expect(remote.generation == generation)
        }
    }
}
