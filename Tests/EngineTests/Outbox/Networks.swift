import Curl
import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite struct `the network` {
    @Test func `has settled when nothing new came for two seconds`() {
        var settling = NetworkSettling()
        #expect(settling.decide(at: .seconds(1)) == .idle)
        settling.noticed("address", isThere: true, at: .seconds(10))
        #expect(settling.decide(at: .seconds(10)) == .wait(until: .seconds(12)))
        settling.noticed("route", isThere: true, at: .seconds(11))
        #expect(settling.decide(at: .seconds(12)) == .wait(until: .seconds(13)))
        #expect(settling.decide(at: .seconds(13)) == .settled)
        #expect(settling.decide(at: .seconds(13)) == .idle)
    }

    @Test func `that never becomes quiet has settled after ten seconds`() {
        var settling = NetworkSettling()
        for second in 0..<10 {
            settling.noticed("address \(second)", isThere: true, at: .seconds(second))
            #expect(settling.decide(at: .seconds(second)) != .settled)
        }
        #expect(settling.decide(at: .seconds(10)) == .settled)
    }

    @Test func `that comes and goes is news twice a minute at most`() {
        var (settling, hints) = (NetworkSettling(), 0)
        for second in 0..<120 {
            settling.noticed("address", isThere: second % 4 < 2, at: .seconds(second))
            if settling.decide(at: .seconds(second)) == .settled { hints += 1 }
        }
        #expect(hints == 4)
    }

    @Test func `is no news where an address is renewed or vanishes`() {
        var settling = NetworkSettling()
        settling.noticed("address", isThere: true, at: .zero)
        #expect(settling.decide(at: .seconds(2)) == .settled)
        settling.noticed("address", isThere: true, at: .seconds(60))
        settling.noticed("address", isThere: false, at: .seconds(61))
        #expect(settling.decide(at: .seconds(90)) == .idle)
        settling.noticed("address", isThere: true, at: .seconds(91))
        #expect(settling.decide(at: .seconds(93)) == .settled)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel that fails` {
    private func run(_ plan: String, _ body: (Tower) async throws -> Void) async throws {
        let server = try await HookServer(["--status-plan", plan])
        let hook = try makeHook("one", to: server.url(), curl: try CurlMulti())
        try await Tower.run(
            at: .now, keepers: [.outbox], channels: [hook], routes: [Route(when: [.failed], to: ["one"])],
            body)
        withExtendedLifetime(server) {}
    }

    private func put(_ ids: String, on tower: Tower) async throws {
        for id in ids {
            try await tower.ledger.commit([
                .insertOutbox(
                    OutboxRecord(
                        id: "\(id)", channel: "one", cause: "event:\(id)", type: "run.failed",
                        reason: "failed", createdAt: tower.clock.now, nextAt: tower.clock.now,
                        body: Array("{}".utf8)))
            ])
        }
    }

    @Test func `is tried at once when this machine has a new way out`() async throws {
        try await run("503,204") { tower in
            try await put("a", on: tower)
            try await tower.until { try await tower.ledger.outbox(id: "a")?.attempts == 1 }
            // The clock stands: by itself nothing is due again.
            tower.networkReturns.publish(())
            try await tower.until { try await tower.ledger.outbox(id: "a")?.state == .delivered }
        }
    }

    @Test func `and is left alone is tried with the oldest entry, whose success frees the rest`() async throws
    {
        try await run("503,503,503,503,503,204") { tower in
            for id in ["a", "b", "c", "d", "e"] {
                try await put(id, on: tower)
                try await tower.until { try await tower.ledger.outbox(id: id)?.attempts == 1 }
            }
            try await put("f", on: tower)
            tower.networkReturns.publish(())
            try await tower.until {
                try await tower.ledger.outbox(states: [.delivered], limit: 9).count == 6
            }
            #expect(try await tower.ledger.outbox(id: "f")?.attempts == 1)
        }
    }

    @Test func `for its own refusals is not tried for a new way out`() async throws {
        try await run("429,204") { tower in
            try await put("a", on: tower)
            try await tower.until { try await tower.ledger.outbox(id: "a")?.attempts == 1 }
            tower.networkReturns.publish(())
            // A commit after it: the line has served once more.
            try await put("b", on: tower)
            try await tower.until { try await tower.ledger.outbox(id: "b")?.state == .delivered }
            #expect(try await tower.ledger.outbox(id: "a")?.attempts == 1)
        }
    }
}
