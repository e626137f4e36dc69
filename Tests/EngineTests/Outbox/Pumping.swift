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

/// A tower whose pump sends to real servers.
private struct Pumping {
    let curl: CurlMulti

    init() throws { curl = try CurlMulti() }

    func run(
        in folder: TemporaryFolder, _ servers: [(String, HookServer)], from now: Moment = .now,
        keepers: Set<Tower.Keeper> = [.items, .outbox], _ body: (Tower) async throws -> Void
    ) async throws {
        let channels: [any Channel] = try servers.map { try makeHook($0.0, to: $0.1.url(), curl: curl) }
        let routes = [Route(when: [.failed, .completed, .test], to: channels.map(\.name))]
        try await Tower.run(
            in: folder, at: now, keepers: keepers, channels: channels, routes: routes, body)
    }

    func run(
        _ servers: [(String, HookServer)], _ body: (Tower) async throws -> Void
    ) async throws {
        try await run(in: try TemporaryFolder(), servers, body)
    }
}

extension Tower {
    /// Puts an entry in line, as the keeper of items does.
    fileprivate func put(_ id: String, on channel: String = "one", run: String? = nil) async throws {
        try await ledger.commit([
            .insertOutbox(
                OutboxRecord(
                    id: id, channel: channel, cause: "event:\(id)", type: "run.failed", reason: "failed",
                    createdAt: clock.now, nextAt: clock.now, run: run, body: Array(#"{"id":"\#(id)"}"#.utf8)))
        ])
    }

    /// Waits until the entry is as it should be.
    fileprivate func entry(_ id: String, _ fits: (OutboxRecord) -> Bool) async throws {
        try await until { try await ledger.outbox(id: id).map(fits) ?? false }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `an outbox entry` {
    @Test func `is sent at once, signed, and has a receipt`() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let server = try await HookServer(["--secret", secret])
        let curl = try CurlMulti()
        let hook = try makeHook("one", to: server.url(), secret: secret, curl: curl)
        try await Tower.run(
            at: .now, keepers: [.items, .outbox], channels: [hook],
            routes: [Route(when: [.failed], to: ["one"])]
        ) { tower in
            let run = try await tower.end("backup", .failed, exitCode: 2)
            let request = try await server.record()
            #expect(request.verified == true, "\(request.error ?? "")")
            let id = try #require(request.id)
            try await tower.entry(id) { $0.state == .delivered && $0.attempts == 1 && $0.run == run.id }
            #expect(try await tower.ledger.receipts(of: id).map(\.receipt.kind) == [.accepted])
            try await tower.channel("one", is: .working)
        }
    }

    @Test func `bears the same id on every attempt, at the times of the policy`() async throws {
        let server = try await HookServer(["--status-plan", "500,503,204"])
        try await Pumping().run([("one", server)]) { tower in
            let start = tower.clock.now
            try await tower.put("e1")
            try await tower.entry("e1") { $0.attempts == 1 }
            let first = try #require(try await tower.ledger.outbox(id: "e1"))
            let firstWait = try #require(first.nextAt) - start
            #expect(firstWait >= .seconds(4) && firstWait <= .seconds(6))
            #expect(first.state == .pending && first.status == 500)
            tower.clock.advance(by: firstWait)
            try await tower.entry("e1") { $0.attempts == 2 }
            let second = try #require(try await tower.ledger.outbox(id: "e1"))
            let secondWait = try #require(second.nextAt) - tower.clock.now
            #expect(secondWait >= .seconds(240) && secondWait <= .seconds(360))
            tower.clock.advance(by: secondWait)
            try await tower.entry("e1") { $0.state == .delivered }
            let requests = try await server.records(3)
            #expect(requests.map(\.id) == ["e1", "e1", "e1"])
            #expect(Set(requests.map(\.bodySha256)).count == 1)
        }
    }

    @Test func `comes after what was made before it of the same run`() async throws {
        let server = try await HookServer(["--status-plan", "500,204", "--plan-by-id"])
        try await Pumping().run([("one", server)]) { tower in
            // One commit: the same moment, and ids in no order.
            let entries = ["z-first", "a-second"].map { id in
                OutboxRecord(
                    id: id, channel: "one", cause: "event:\(id)", type: "run.failed", reason: "failed",
                    createdAt: tower.clock.now, nextAt: tower.clock.now, run: "r", body: [0x7B, 0x7D])
            }
            try await tower.ledger.commit(entries.map { .insertOutbox($0) })
            try await tower.put("other", run: "s")
            for id in ["z-first", "other"] { try await tower.entry(id) { $0.attempts == 1 } }
            #expect(try await tower.ledger.outbox(id: "a-second")?.attempts == 0)
            tower.clock.advance(by: .seconds(6))
            try await tower.entry("a-second") { $0.attempts == 1 }
            tower.clock.advance(by: .seconds(6))
            try await tower.entry("a-second") { $0.state == .delivered }
            let ids = try await server.records(6).compactMap(\.id).filter { $0 != "other" }
            #expect(ids == ["z-first", "z-first", "a-second", "a-second"])
        }
    }

    @Test func `that waits is sent after a restart, under its id`() async throws {
        let folder = try TemporaryFolder()
        let server = try await HookServer()
        let pumping = try Pumping()
        try await pumping.run(in: folder, [("one", server)], keepers: []) { try await $0.put("e1") }
        try await pumping.run(in: folder, [("one", server)]) { tower in
            #expect(try await server.record().id == "e1")
            try await tower.entry("e1") { $0.state == .delivered }
        }
    }

    @Test func `whose attempt a stop breaks off counts no attempt, and is sent again`() async throws {
        let folder = try TemporaryFolder()
        let server = try await HookServer(["--status-plan", "hang,204"])
        let pumping = try Pumping()
        try await pumping.run(in: folder, [("one", server)]) { tower in
            try await tower.put("e1")
            #expect(try await server.record().id == "e1")
        }
        try await pumping.run(in: folder, [("one", server)]) { tower in
            #expect(try await server.record().id == "e1")
            try await tower.entry("e1") { $0.state == .delivered && $0.attempts == 1 }
        }
    }

    @Test func `of a channel that was removed is discarded`() async throws {
        let server = try await HookServer(["--status-plan", "500"])
        try await Pumping().run([("one", server)]) { tower in
            try await tower.put("e1")
            try await tower.entry("e1") { $0.attempts == 1 }
            var configuration = tower.switchboard.configuration
            configuration.channels = []
            tower.switchboard.replace(with: configuration)
            try await tower.entry("e1") { $0.state == .discarded }
            #expect(try await tower.ledger.outbox(id: "e1")?.lastError == "the channel was removed")
        }
    }

    @Test func `is never rewritten while it is sent, nor sent while it is rewritten`() {
        let inHand = EntriesInHand()
        let mark = inHand.rewritings
        #expect(inHand.beginRewriting("a"))
        // What was read before is old, and what is read now may be.
        #expect(!inHand.beginSending("a", readAfter: mark))
        #expect(!inHand.beginSending("a", readAfter: inHand.rewritings))
        inHand.endRewriting(["a"])
        #expect(!inHand.beginSending("a", readAfter: mark))
        #expect(inHand.beginSending("a", readAfter: inHand.rewritings))
        #expect(!inHand.beginRewriting("a"))
        #expect(inHand.beginRewriting("b"))
        inHand.endSending("a")
        #expect(inHand.beginRewriting("a"))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `a broken channel` {
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
            // All are due again long before the pause is over; then one probes, and the others follow.
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

    @Test func `that wants nothing more says so of all that is for it, and names no time`() async throws {
        let gone = try await HookServer(["--status-plan", "410"])
        let good = try await HookServer()
        try await Pumping().run([("gone", gone), ("good", good)]) { tower in
            try await tower.put("e1", on: "gone")
            try await tower.entry("e1") { $0.state == .held }
            try await tower.put("e2", on: "gone")
            let waits = try await tower.control.waits(of: try await tower.entries(of: "gone"))
            #expect(waits.mapValues(\.word) == ["e1": "channelDisabled", "e2": "channelDisabled"])
            #expect(waits.values.allSatisfy { $0.nextAt == nil })
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
            try await tower.entry("e1") { $0.state == .held }
        }
        try await pumping.run(in: folder, [("gone", gone), ("good", good)], from: now) { tower in
            #expect(try await tower.ledger.outbox(id: "e2")?.state == .pending)
            _ = try await tower.control.testChannel("gone")
            for id in ["e1", "e2"] { try await tower.entry(id) { $0.state == .delivered } }
            try await tower.channel("gone", is: .working)
            let told = try await good.record().body
            #expect(told?.contains("channel.restored") == true)
        }
    }
}
