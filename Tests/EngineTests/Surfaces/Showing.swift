import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a surface` {
    static let main = ItemKey.thread(bot: "ops", thread: "main")
    static let routes = [Route(when: [.message, .failed, .recovered], to: ["desk"])]

    /// A tower with a desktop on a private bus.
    private func tower(
        at address: String, in folder: TemporaryFolder? = nil, _ body: (Tower) async throws -> Void
    ) async throws {
        let desk = makeDesk(at: address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            in: try folder ?? TemporaryFolder(), keepers: [.items, .surfaces], channels: [desk],
            routes: Self.routes, body)
    }

    /// Says something that is shown at once.
    private func say(_ text: String, on tower: Tower) async throws {
        try await tower.say(text, urgency: .critical)
        try await tower.settled()
    }

    @Test func `is shown, replaced in place, and closed when it was read`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address) { tower in
            try await say("one", on: tower)
            let first = try #require(try await server.next())
            #expect(first.replacesID == 0 && first.body == "one")
            tower.clock.advance(by: .seconds(1))
            try await say("two", on: tower)
            let second = try #require(try await server.next())
            #expect(second.replacesID == first.id && second.id == first.id)
            #expect(second.body.contains("one") && second.body.contains("two"))
            try await tower.control.read(bot: "ops", thread: "main", through: tower.clock.now)
            #expect(try await server.next("CloseNotification")?.id == first.id)
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote == nil
            }
            let receipts = try await tower.ledger.receipts(of: "desk/\(Self.main)")
            #expect(receipts.map(\.receipt.kind) == [.accepted])
        }
    }

    @Test func `unread is shown again, with a new id, when the server died and came back`() async throws {
        let bus = try await PrivateBus.start()
        var server = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address) { tower in
            try await say("one", on: tower)
            try await tower.say("two", thread: "other", urgency: .critical)
            _ = try await server.next()
            _ = try await server.next()
            try await tower.until {
                try await tower.ledger.surfaces(channel: "desk", all: false).isEmpty
            }
            // One of them is read before the server dies.
            try await tower.control.read(bot: "ops", thread: "other", through: tower.clock.now)
            _ = try await server.next("CloseNotification")
            await server.process.end()
            server = try await NotificationServer.start(at: bus.address, "--first-id", "70")
            let again = try #require(try await server.next())
            #expect(again.id == 70 && again.replacesID == 0 && again.body == "one")
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote?.id == "70"
            }
            tower.clock.advance(by: .seconds(1))
            try await say("three", on: tower)
            #expect(try await server.next()?.replacesID == 70)
        }
    }

    @Test func `that a person closes is read, and stays away until there is a new message`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address) { tower in
            try await say("one", on: tower)
            let first = try #require(try await server.next())
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote != nil
            }
            #expect(try await tower.ledger.unread() == ["ops": 1])
            try server.close(first.id, reason: 2)
            try await tower.until { try await tower.ledger.unread().isEmpty }
            try await tower.settled()
            #expect(try await tower.shown(Self.main) == nil)
            let kinds = try await tower.ledger.receipts(of: "desk/\(Self.main)").map(\.receipt.kind)
            #expect(kinds == [.accepted, .seen])
            tower.clock.advance(by: .seconds(1))
            try await say("two", on: tower)
            let second = try #require(try await server.next())
            #expect(second.replacesID == 0 && second.body == "two")
        }
    }

    @Test func `that expires is still unread, and joins the next message`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address) { tower in
            try await say("one", on: tower)
            let first = try #require(try await server.next())
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote != nil
            }
            try server.close(first.id, reason: 1)
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote == nil
            }
            #expect(try await tower.ledger.unread() == ["ops": 1])
            tower.clock.advance(by: .seconds(1))
            try await say("two", on: tower)
            let second = try #require(try await server.next())
            #expect(second.replacesID == 0 && second.body.contains("one"))
        }
    }

    @Test func `waits where there is no bus, holds up nothing, and shows when one appears`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(now: at("10:00:00"))
        let desk = makeDesk(at: "unix:path=\(folder.file("bus"))", clock: clock)
        try await Tower.run(
            keepers: [.items, .surfaces], channels: [desk], routes: Self.routes
        ) { tower in
            // The desktop looks for its bus again after a second.
            _ = await clock.nextSleeper()
            try await say("one", on: tower)
            #expect(try await tower.shown(Self.main) != nil)
            try await tower.channel("desk", is: .away)
            let bus = try await PrivateBus.start(in: folder)
            let server = try await NotificationServer.start(at: bus.address)
            clock.advance(by: .seconds(60))
            #expect(try await server.next()?.body == "one")
            try await tower.until {
                try await tower.ledger.surfaces(channel: "desk", all: false).isEmpty
            }
            try await tower.channel("desk", is: .working)
        }
    }

    @Test func `that is refused for good counts as refused, is reported, and holds up no other`() async throws
    {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse("org.example.Never")
        try await tower(at: bus.address) { tower in
            try await tower.say("one", thread: "a", urgency: .critical)
            try await tower.say("two", thread: "b", urgency: .critical)
            #expect(Set([try await server.next()?.body, try await server.next()?.body]) == ["one", "two"])
            try await tower.until { try await tower.ledger.refusedSurfaces(channel: "desk").count == 2 }
            let surfaces = try await tower.ledger.surfaces(channel: "desk", all: true)
            #expect(surfaces.map(\.shown) == [0, 0] && surfaces.map(\.refused) == [1, 1])
            try await tower.channel("desk", is: .failing)
            let problem = try await tower.control.status().problems.first { $0.kind == "refusedNotices" }
            #expect(
                problem?.message == """
                    channel "desk" does not show thread:ops/b and 1 more: org.example.Never: refused as told
                    """)
            #expect(try await tower.eventTypes().filter { $0 == .channelFailing }.count == 2)

            // Its next version is tried, and reported no second time.
            tower.clock.advance(by: .seconds(1))
            try await tower.say("three", thread: "a", urgency: .critical)
            #expect(try await server.next()?.body.contains("three") == true)
            try await tower.until {
                try await tower.ledger.refusedSurfaces(channel: "desk").contains { $0.refused == 2 }
            }
            try await server.refuse(nil)
            tower.clock.advance(by: .seconds(1))
            try await tower.say("four", thread: "a", urgency: .critical)
            #expect(try await server.next()?.body.contains("four") == true)
            try await tower.until { try await tower.eventTypes().contains(.channelRestored) }
            #expect(try await tower.eventTypes().filter { $0 == .channelFailing }.count == 2)
            #expect(try await tower.ledger.refusedSurfaces(channel: "desk").map(\.item) == ["thread:ops/b"])
        }
    }

    @Test func `that was refused for good is tried again at the next start`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await server.refuse("org.example.Never")
        try await tower(at: bus.address, in: folder) { tower in
            try await say("one", on: tower)
            try await tower.until { try await !tower.ledger.refusedSurfaces(channel: "desk").isEmpty }
        }
        try await server.refuse(nil)
        try await tower(at: bus.address, in: folder) { tower in
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.shown == 1
            }
            #expect(try await tower.ledger.refusedSurfaces(channel: "desk").isEmpty)
        }
    }

    @Test func `that the server has no room for is tried again, less and less often`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse("org.freedesktop.DBus.Error.LimitsExceeded")
        try await tower(at: bus.address) { tower in
            try await say("one", on: tower)
            for pause in [1, 2, 4] {
                #expect(try await server.next()?.body == "one")
                let next = await tower.clock.nextSleeper()
                #expect(next == tower.clock.now + .seconds(pause))
                try await tower.channel("desk", is: .failing)
                if pause == 4 { try await server.refuse(nil) }
                tower.clock.advance(to: next)
            }
            #expect(try await server.next()?.body == "one")
            try await tower.until {
                try await tower.ledger.surfaces(channel: "desk", all: false).isEmpty
            }
            try await tower.channel("desk", is: .working)
        }
    }
}
