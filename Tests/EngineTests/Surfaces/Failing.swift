import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a desktop that refuses everything` {
    static let routes = [Route(when: [.message, .failed], to: ["desk"])]
    private let refusal = "org.example.Never"

    private func tower(
        at bus: PrivateBus, in folder: TemporaryFolder, _ body: (Tower) async throws -> Void
    ) async throws {
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            in: folder, keepers: [.items, .surfaces], channels: [desk], routes: Self.routes, body)
    }

    /// Five items are refused, one after the other, which opens the circuit.
    private func fail(_ tower: Tower) async throws {
        for number in 0..<5 { try await tower.say("n\(number)", thread: "t\(number)", urgency: .critical) }
        try await tower.until { try await tower.ledger.refusedSurfaces(channel: "desk").count == 5 }
        try await tower.until { try await self.news(of: nil, in: tower) == [.channelFailing] }
        try await tower.channel("desk", is: .failing)
    }

    /// The events of an item on the desktop; nil: of the desktop itself.
    private func news(of item: String?, in tower: Tower) async throws -> [EventType] {
        try await tower.ledger.events(after: 0, limit: .max).map(\.event).filter { event in
            switch event.fact {
            case .channelFailing(let channel), .channelRestored(let channel), .channelDisabled(let channel):
                channel.item == item
            default: false
            }
        }.map(\.type)
    }

    private func next(_ body: String, at server: NotificationServer) async throws {
        while let call = try await server.next() { if call.body.contains(body) { return } }
        Issue.record("\(body) was never shown")
    }

    @Test func `is left alone, reported, and shows what waited once it works again`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse(refusal)
        try await tower(at: bus, in: try TemporaryFolder()) { tower in
            let start = tower.clock.now
            try await fail(tower)
            // Each item was reported by itself, and is never marked as shown.
            for number in 0..<5 {
                #expect(try await news(of: "thread:ops/t\(number)", in: tower) == [.channelFailing])
            }
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).allSatisfy { $0.shown == 0 })
            try await server.refuse(nil)
            try await tower.say("late", thread: "late", urgency: .critical)
            try await tower.settled()
            tower.clock.advance(by: .seconds(30))
            try await next("late", at: server)
            try await tower.until {
                try await news(of: nil, in: tower) == [.channelFailing, .channelRestored]
            }
            let events = try await tower.ledger.events(after: 0, limit: .max).map(\.event)
            let restored = try #require(events.last { $0.type == .channelRestored })
            #expect(restored.at - start >= .seconds(30))
            try await tower.channel("desk", is: .working)
        }
    }

    @Test func `lets a person's test pass at once`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse(refusal)
        try await tower(at: bus, in: try TemporaryFolder()) { tower in
            try await fail(tower)
            try await server.refuse(nil)
            try await tower.control.testChannel("desk")
            try await next("This is a test", at: server)
            try await tower.until {
                try await news(of: nil, in: tower) == [.channelFailing, .channelRestored]
            }
        }
    }

    @Test func `is tried at once when another server takes its place`() async throws {
        let bus = try await PrivateBus.start()
        var server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await server.refuse(refusal)
        try await tower(at: bus, in: folder) { tower in
            try await fail(tower)
            await server.process.end()
            server = try await NotificationServer.start(at: bus.address)
            try await next("n0", at: server)
            try await tower.until {
                try await news(of: nil, in: tower) == [.channelFailing, .channelRestored]
            }
        }
    }

    @Test func `is remembered by the next daemon, which reports that it works again`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await server.refuse(refusal)
        try await tower(at: bus, in: folder) { try await fail($0) }
        try await server.refuse(nil)
        try await tower(at: bus, in: folder) { tower in
            try await tower.until {
                try await news(of: nil, in: tower) == [.channelFailing, .channelRestored]
            }
        }
    }

    @Test func `is not one that refuses a single item, however often`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse(refusal)
        try await tower(at: bus, in: try TemporaryFolder()) { tower in
            for number in 1...7 {
                try await tower.say("n\(number)", thread: "bad", urgency: .critical)
                try await tower.until {
                    try await tower.ledger.refusedSurfaces(channel: "desk").first?.refused == Int64(number)
                }
                tower.clock.advance(by: .seconds(1))
            }
            try await server.refuse(nil)
            try await tower.say("good", thread: "good", urgency: .critical)
            try await next("good", at: server)
            #expect(try await news(of: nil, in: tower) == [])
            #expect(try await news(of: "thread:ops/bad", in: tower) == [.channelFailing])
        }
    }
}
