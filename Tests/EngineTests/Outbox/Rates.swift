import Curl
import Delivery
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
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
