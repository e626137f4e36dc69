import Curl
import Delivery
import Grouping
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a channel with a rate` {
    @Test func `is sent no more than its rate, and the rest when there is room`() async throws {
        let server = try await HookServer()
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(server.url()))
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        values["rate"] = .word("2/m")
        let hook = try HTTPSender(
            name: "one", form: try WebhookForm(values), userAgent: "Belfry/test", curl: try CurlMulti())
        try await Tower.run(
            in: try TemporaryFolder(), at: .now, keepers: [.items, .outbox], channels: [hook],
            routes: [Route(when: [.failed], to: ["one"])]
        ) { tower in
            for id in ["a", "b", "c", "d"] {
                try await tower.ledger.commit([
                    .insertOutbox(
                        OutboxRecord(
                            id: id, channel: "one", cause: "event:\(id)", type: "run.failed",
                            reason: "failed", createdAt: tower.clock.now, nextAt: tower.clock.now,
                            body: Array("{}".utf8)))
                ])
            }
            func delivered() async throws -> Int {
                try await tower.ledger.outbox(states: [.delivered], limit: 9).count
            }
            try await tower.until { try await delivered() == 2 }
            // The clock stands: nothing more can be sent, however long anybody waits.
            #expect(try await tower.ledger.outbox(states: [.pending], limit: 9).map(\.attempts) == [0, 0])
            tower.clock.advance(by: .seconds(30))
            try await tower.until { try await delivered() == 3 }
            tower.clock.advance(by: .seconds(30))
            try await tower.until { try await delivered() == 4 }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a service that is edited in place, with a rate` {
    @Test func `has a message removed when there is room for that, too`() async throws {
        let server = try await ChatServer()
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(server.url))
        values["chat"] = .word("7")
        values["token"] = .secrets([.file("/x")])
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        values["rate"] = .word("1/m")
        let chat = try HTTPEditor(
            name: "chat", form: try TelegramForm(values), secrets: FormSecrets(["token": ["1:abc"]]),
            userAgent: "Belfry/test", curl: try CurlMulti(), clock: ManualClock(now: .now), logger: quiet)
        let id = "0199a000-0000-7000-8000-00007a11c0de"
        try await Tower.run(
            in: try TemporaryFolder(), at: .now, keepers: [.items, .surfaces, .questions], channels: [chat],
            routes: [Route(when: [.question], to: ["chat"])]
        ) { tower in
            func surface() async throws -> SurfaceRecord? {
                try await tower.ledger.surface(channel: "chat", item: "\(ItemKey.question(id))")
            }
            _ = try await tower.control.ask(QuestionDraft(id: id, "Go?", choices: ["yes", "no"]))
            try await tower.until { try await surface()?.remote != nil }
            let shown = try await surface()?.shown
            _ = try await tower.control.answer(id, "yes", by: "cli")
            try await tower.until { try await surface()?.wanted != shown }
            // The clock stands: there is no room for another request, however long anybody waits.
            #expect(try await server.calls() == ["sendMessage ring"])
            tower.clock.advance(by: .seconds(60))
            try await server.shows(\.isEmpty)
            #expect(try await server.calls() == ["sendMessage ring", "deleteMessage"])
        }
    }
}

@Suite struct `the places of an address` {
    @Test func `are shared by the channels that lead there, and who waits for one is rung`() async throws {
        let curl = try CurlMulti()
        let (one, two) = (
            try makeHook("one", to: "http://127.0.0.1:1/x", curl: curl),
            try makeHook("two", to: "http://127.0.0.1:1/x", curl: curl)
        )
        let other = try makeHook("other", to: "http://127.0.0.1:1/y", curl: curl)
        let (places, bell) = (SharedPlaces(), Bell())
        for channel in [one, two, one, two] { #expect(places.take(for: channel, ringing: bell)) }
        #expect(!places.take(for: two, ringing: bell))
        #expect(places.take(for: other, ringing: Bell()))
        places.giveBack(for: one)
        try await bell.wait(until: nil, on: ManualClock(now: .now))
        #expect(places.take(for: two, ringing: bell))
        #expect(!places.take(for: one, ringing: bell))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel for which too much waits` {
    /// The record of a channel that failed so often that it is left alone.
    private func open(_ channel: any Channel, at now: Moment) throws -> ChannelRecord {
        var circuit = Circuit()
        for _ in 0..<5 {
            _ = circuit.recorded(
                .failure(.unreachable(.connectFailed)), at: now, sinceBoot: .zero, policy: CircuitPolicy())
        }
        return ChannelRecord(
            name: channel.name, circuit: try JSON.encode(circuit), identity: channel.identity, updatedAt: now)
    }

    @Test func `loses the oldest of least importance, and reports it once`() async throws {
        let folder = try TemporaryFolder()
        let now = Moment.now
        let hook = try makeHook("one", curl: try CurlMulti())
        let before = try folder.ledger()
        try await before.commit([.putChannel(try open(hook, at: now))])
        let types = [
            ("a", "run.failed"), ("b", "run.started"), ("c", "run.completed"), ("d", "run.completed"),
            ("e", "run.failed"), ("f", "run.started"),
        ]
        for (number, (id, type)) in types.enumerated() {
            let at = now + .seconds(number)
            try await before.commit([
                .insertOutbox(
                    OutboxRecord(
                        id: id, channel: "one", cause: "event:\(id)", type: type, reason: "r", createdAt: at,
                        nextAt: at, body: Array("{}".utf8)))
            ])
        }
        await before.close()
        try await Tower.run(
            in: folder, at: now, keepers: [.outbox], channels: [hook],
            routes: [Route(when: [.failed], to: ["one"])], room: OutboxRoom(rows: 3, bytes: 1 << 20)
        ) { tower in
            try await tower.until {
                try await tower.ledger.outbox(states: [.expired], limit: 9).map(\.id) == ["f", "c", "b"]
            }
            #expect(try await tower.ledger.outbox(states: [.pending], limit: 9).map(\.id) == ["e", "d", "a"])
            let dropped = try #require(try await tower.ledger.outbox(id: "b"))
            #expect(dropped.lastError?.hasPrefix("dropped: more than 3 entries") == true)
            let events = try await tower.ledger.events(after: 0, limit: 9).map(\.event.fact)
            #expect(events.map(\.type) == [.channelFailing])
            #expect(events.first?.columns.reason == "overflow")
        }
    }

    @Test func `has room by rows and by bytes`() {
        func weight(_ id: String, _ type: String, bytes: Int) -> OutboxWeight {
            OutboxWeight(
                id: id, type: type, state: .waiting, attempts: 1, createdAt: Moment(seconds: 1), bytes: bytes)
        }
        let all = [
            weight("a", "run.failed", bytes: 10), weight("b", "run.progress", bytes: 20),
            weight("c", "message.group", bytes: 30),
        ]
        func dropped(_ rows: Int, _ bytes: Int) -> [String] {
            OutboxRoom(rows: rows, bytes: bytes).overflow(of: all).map(\.id)
        }
        #expect(dropped(3, 60) == [])
        #expect(dropped(2, 60) == ["b"])
        #expect(dropped(3, 59) == ["b"])
        #expect(dropped(3, 39) == ["b", "c"])
        #expect(dropped(0, 0) == ["b", "c", "a"])
    }
}
