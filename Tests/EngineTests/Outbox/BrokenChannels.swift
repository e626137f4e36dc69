import Curl
import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@Suite(.timeLimit(.minutes(5))) struct `a broken channel` {
    @Test func `delays no other`() async throws {
        let (dead, alive) = (try await HookServer(["--status-plan", "hang"]), try await HookServer())
        try await Pumping().run([("dead", dead), ("alive", alive)]) { tower in
            for number in 0..<20 {
                try await tower.put("d\(number)", on: "dead")
                try await tower.put("a\(number)", on: "alive")
            }
            #expect(Set(try await alive.records(20).compactMap(\.id)) == Set((0..<20).map { "a\($0)" }))
            for number in 0..<20 { try await tower.entry("a\(number)") { $0.state == .delivered } }
            #expect(try await tower.ledger.outboxCounts()[.pending] == 20)
        }
    }

    @Test func `is left alone, reported on another, and resumes with nothing lost`() async throws {
        let bad = try await HookServer(["--status-plan", "500,204", "--plan-by-id"])
        let good = try await HookServer()
        try await Pumping().run([("bad", bad), ("good", good)]) { tower in
            let start = tower.clock.now
            let ids = Set((0..<5).map { "e\($0)" })
            for id in ids { try await tower.put(id, on: "bad") }
            // Five failures in a row open the circuit.
            #expect(try await good.record().body?.contains("channel.failing") == true)
            try await tower.channel("bad", is: .failing)
            try await tower.until { try await tower.entries(of: "bad").allSatisfy { $0.attempts == 1 } }
            // All are due again long before the pause ends; then one probes, and the others follow.
            tower.clock.advance(by: .seconds(10))
            tower.clock.advance(by: .seconds(20))
            #expect(try await good.record().body?.contains("channel.restored") == true)
            for id in ids { try await tower.entry(id) { $0.state == .delivered } }
            #expect(Set(try await bad.records(10).compactMap(\.id)) == ids)
            try await tower.channel("bad", is: .working)
            let events = try await tower.ledger.events(after: 0, limit: 99).map(\.event)
            #expect(events.map(\.type) == [.channelFailing, .channelRestored])
            #expect(try #require(events.last?.at) - start >= .seconds(30))
        }
    }

    @Test func `says of what waits for it why, and when it is tried`() async throws {
        let bad = try await HookServer(["--status-plan", "500"])
        let good = try await HookServer()
        try await Pumping().run([("bad", bad), ("good", good)]) { tower in
            for number in 0..<5 { try await tower.put("e\(number)", on: "bad") }
            try await tower.until { try await tower.entries(of: "bad").allSatisfy { $0.attempts == 1 } }
            try await tower.put("late", on: "bad")
            let until = tower.clock.now + .seconds(30)
            let entries = try await tower.entries(of: "bad")
            let waits = try await tower.control.waits(of: entries)
            #expect(waits.count == 6)
            for (id, wait) in waits {
                #expect(wait.word == "channelFailing", "\(id)")
                #expect(wait.nextAt == until, "\(id): the circuit waits longer than the entry")
                guard case .channel(let hold) = wait else { continue }
                #expect(hold.lastError == "\(bad.url("/").dropLast()) answered 500")
            }
        }
    }

    @Test func `that wants nothing more reports it for all its entries, and names no time`() async throws {
        let gone = try await HookServer(["--status-plan", "410"])
        let good = try await HookServer()
        try await Pumping().run([("gone", gone), ("good", good)]) { tower in
            try await tower.put("e1", on: "gone")
            try await tower.entry("e1") { $0.state == .waiting }
            try await tower.put("e2", on: "gone")
            let waits = try await tower.control.waits(of: try await tower.entries(of: "gone"))
            #expect(waits.mapValues(\.word) == ["e1": "channelDisabled", "e2": "channelDisabled"])
            #expect(waits.values.allSatisfy { $0.nextAt == nil })
        }
    }

    @Test func `lets a person's test pass, however much waits, and all of it follows`() async throws {
        let bad = try await HookServer(["--status-plan", "500,500,500,500,500,204"])
        let good = try await HookServer()
        try await Pumping().run([("bad", bad), ("good", good)]) { tower in
            for number in 0..<5 { try await tower.put("e\(number)", on: "bad") }
            try await tower.until { try await tower.entries(of: "bad").allSatisfy { $0.attempts == 1 } }
            try await tower.channel("bad", is: .failing)
            // More than any look along the line sees.
            for number in 0..<300 { try await tower.put("w\(number)", on: "bad") }
            _ = try await tower.control.testChannel("bad")
            try await tower.until {
                try await tower.ledger.outboxCounts(byChannelIn: [.pending])["bad"] == nil
            }
            try await tower.channel("bad", is: .working)
        }
    }

    @Test func `that wants nothing more keeps what waits, until a person's test gets through`() async throws {
        let gone = try await HookServer(["--status-plan", "410,204"])
        let good = try await HookServer()
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [("gone", gone), ("good", good)], from: now) { tower in
            try await tower.put("e1", on: "gone")
            #expect(try await good.record().body?.contains("channel.disabled") == true)
            try await tower.put("e2", on: "gone")
            try await tower.entry("e1") { $0.state == .waiting }
            // Else the next daemon sends it once more.
            try await tower.until {
                try await tower.ledger.outboxCounts(byChannelIn: [.pending])["good"] == nil
            }
        }
        try await pumping.run(in: folder, [("gone", gone), ("good", good)], from: now) { tower in
            #expect(try await tower.ledger.outbox(id: "e2")?.state == .pending)
            _ = try await tower.control.testChannel("gone")
            for id in ["e1", "e2"] { try await tower.entry(id) { $0.state == .delivered } }
            try await tower.channel("gone", is: .working)
            let reported = try await good.record().body
            #expect(reported?.contains("channel.restored") == true)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel that works again` {
    @Test func `makes all that waits for it due, also what has waits of its own`() async throws {
        let server = try await HookServer(["--status-plan", "500,500,204"])
        try await Pumping().run([("one", server)]) { tower in
            try await tower.put("first", run: "r")
            try await tower.entry("first") { $0.attempts == 1 }
            tower.clock.advance(by: .seconds(7))
            try await tower.entry("first") { $0.attempts == 2 }
            try await tower.put("second", run: "r")
            // It has minutes to wait, which the success of another ends.
            try await tower.put("other", run: "s")
            for id in ["other", "first", "second"] { try await tower.entry(id) { $0.state == .delivered } }
            let ids = try await server.records(5).compactMap(\.id)
            #expect(ids == ["first", "first", "other", "first", "second"])
        }
    }

    @Test func `makes them due also when a restart came in between`() async throws {
        let server = try await HookServer(["--status-plan", "500,500,204"])
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [("one", server)], from: now) { tower in
            try await tower.put("first")
            try await tower.entry("first") { $0.attempts == 1 }
            tower.clock.advance(by: .seconds(7))
            try await tower.entry("first") { $0.attempts == 2 }
        }
        try await pumping.run(in: folder, [("one", server)], from: now + .seconds(8)) { tower in
            try await tower.put("other")
            for id in ["other", "first"] { try await tower.entry(id) { $0.state == .delivered } }
        }
    }

    @Test func `does not hurry at full speed an entry that it alone refuses`() async throws {
        // In the order of arrival: each 500 meets the entry "bad", which is due at once only the first time.
        let server = try await HookServer(["--status-plan", "204,500,204,500,204"])
        try await Pumping().run([("one", server)]) { tower in
            try await tower.put("good0")
            try await tower.entry("good0") { $0.state == .delivered }
            try await tower.put("bad")
            try await tower.entry("bad") { $0.attempts == 1 }
            try await tower.put("good1")
            try await tower.entry("bad") { $0.attempts == 2 }
            let secondAt = tower.clock.now
            try await tower.put("good2")
            try await tower.entry("good2") { $0.state == .delivered }
            let bad = try #require(try await tower.ledger.outbox(id: "bad"))
            #expect(bad.attempts == 2 && bad.nextAt == secondAt + .seconds(30))
        }
    }

    @Test func `does not hurry such an entry because the daemon was started again`() async throws {
        let server = try await HookServer(["--status-plan", "204,500,204,500,204"])
        let folder = try TemporaryFolder()
        let (pumping, now) = (try Pumping(), Moment.now)
        try await pumping.run(in: folder, [("one", server)], from: now) { tower in
            try await tower.put("good0")
            try await tower.entry("good0") { $0.state == .delivered }
            try await tower.put("bad")
            try await tower.entry("bad") { $0.attempts == 1 }
            try await tower.put("good1")
            try await tower.entry("bad") { $0.attempts == 2 }
        }
        try await pumping.run(in: folder, [("one", server)], from: now + .seconds(1)) { tower in
            try await tower.put("good2")
            try await tower.entry("good2") { $0.state == .delivered }
            let bad = try #require(try await tower.ledger.outbox(id: "bad"))
            #expect(bad.attempts == 2 && bad.nextAt == now + .seconds(30))
        }
    }

    @Test func `leaves what a rule holds`() async throws {
        let gone = try await HookServer(["--status-plan", "410,204"])
        try await Pumping().run([("gone", gone)]) { tower in
            try await tower.put("e1", on: "gone")
            try await tower.entry("e1") { $0.state == .waiting }
            var held = OutboxRecord(
                id: "held", channel: "gone", cause: "held", type: "run.failed", reason: "failed",
                state: .held,
                createdAt: tower.clock.now, nextAt: tower.clock.now + .seconds(3600), body: [0x7B, 0x7D])
            held.run = "h"
            try await tower.ledger.commit([.insertOutbox(held)])
            _ = try await tower.control.testChannel("gone")
            try await tower.entry("e1") { $0.state == .delivered }
            #expect(try await tower.ledger.outbox(id: "held") == held)
            let wait = try await tower.control.waits(of: [held])["held"]
            #expect(wait == .rule(until: held.nextAt))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel with another address` {
    @Test func `is used at once, with all that waits, though the old one was given up`() async throws {
        let (gone, new) = (try await HookServer(["--status-plan", "410"]), try await HookServer())
        let pumping = try Pumping()
        try await pumping.run([("one", gone)]) { tower in
            try await tower.put("e1")
            try await tower.entry("e1") { $0.state == .waiting }
            try await tower.channel("one", is: .disabled)
            var configuration = tower.activeConfiguration.configuration
            configuration.channels = [try makeHook("one", to: new.url(), curl: pumping.curl)]
            configuration.versions["one"] = 2
            tower.activeConfiguration.replace(with: configuration)
            try await tower.entry("e1") { $0.state == .delivered }
            #expect(try await new.record().id == "e1")
            try await tower.channel("one", is: .working)
        }
    }

    @Test func `is used at once also when it was changed while no daemon ran`() async throws {
        let (gone, new) = (try await HookServer(["--status-plan", "410"]), try await HookServer())
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [("one", gone)], from: now) { tower in
            try await tower.put("e1")
            try await tower.entry("e1") { $0.state == .waiting }
            try await tower.put("e2")
        }
        try await pumping.run(in: folder, [("one", new)], from: now) { tower in
            for id in ["e1", "e2"] { try await tower.entry(id) { $0.state == .delivered } }
            #expect(Set(try await new.records(2).compactMap(\.id)) == ["e1", "e2"])
        }
    }

    @Test func `has another identity, as with another secret or exception, that gives nothing away`() throws {
        let curl = try CurlMulti()
        let secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        let (one, two) = ("http://127.0.0.1:1/token", "http://127.0.0.1:1/other")
        let identities = [
            try makeHook("a", to: one, curl: curl), try makeHook("a", to: two, curl: curl),
            try makeHook("a", to: one, secret: secrets[0], curl: curl),
            try makeHook("a", to: one, secret: secrets[1], curl: curl),
        ].map(\.identity)
        #expect(Set(identities).count == 4)
        #expect(try makeHook("b", to: one, curl: curl).identity == identities[0])
        #expect(!identities.contains { $0.contains("token") })
    }
}
