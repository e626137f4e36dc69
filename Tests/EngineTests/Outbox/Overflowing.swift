import Curl
import Delivery
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

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
