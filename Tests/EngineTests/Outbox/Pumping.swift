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

@Suite(.timeLimit(.minutes(5))) struct `an outbox entry` {
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

    @Test func `of a form that was added is what that form makes of it, on every attempt`() async throws {
        let server = try await HookServer(["--status-plan", "409,204"])
        let lines = try HTTPSender(
            name: "lines", form: try LineForm.toThisMachine(server.url("")),
            secrets: FormSecrets(["token": ["t0k3n"]]), userAgent: "Belfry/test", curl: try CurlMulti())
        try await Tower.run(
            at: .now, keepers: [.items, .outbox], channels: [lines],
            routes: [Route(when: [.failed], to: ["lines"])]
        ) { tower in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "lines").first?.attempts == 1 }
            // A conflict is "too many" to this service: a minute's wait at least.
            tower.clock.advance(by: .seconds(80))
            try await tower.until { try await tower.entries(of: "lines").first?.state == .delivered }
            let requests = try await server.records(2)
            #expect(requests.map(\.body) == ["run.failed: exitCode", "run.failed: exitCode"])
            #expect(requests.allSatisfy { $0.headers["authorization"] == "Bearer t0k3n" })
            let entry = try #require(try await tower.entries(of: "lines").first)
            #expect(String(decoding: entry.body, as: UTF8.self) == "run.failed: exitCode")
            #expect(!"\(entry)".contains("t0k3n"))
        }
    }

    @Test func `keeps the head of each answer, and how long it took`() async throws {
        let server = try await HookServer(["--status-plan", "503,200", "--body-size", "3000"])
        let hook = try makeHook("one", to: server.url(), curl: try CurlMulti())
        try await Tower.run(
            at: .now, keepers: [.outbox], channels: [hook],
            routes: [Route(when: [.failed], to: ["one"])]
        ) { tower in
            try await tower.put("a")
            try await tower.entry("a") { $0.attempts == 1 }
            let tries = try await tower.ledger.outboxAttempts(of: "a")
            #expect(tries.map(\.status) == [503] && tries.map(\.reason) == [.serverError])
            #expect(tries.first?.answer == String(repeating: "x", count: 2048))
            // The test's clock stands.
            #expect(tries.first?.latency == .zero)
            tower.clock.advance(by: .seconds(10))
            try await tower.entry("a") { $0.state == .delivered }
            let receipt = try #require(try await tower.ledger.receipts(of: "a").first?.receipt)
            #expect(receipt.answer?.utf8.count == 2048 && receipt.latency != nil)
            #expect(try await tower.ledger.outboxAttempts(of: "a").count == 1)
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

    @Test func `of a channel that is missing waits, and goes when the channel is back`() async throws {
        let server = try await HookServer(["--status-plan", "500,204"])
        try await Pumping().run([("one", server)]) { tower in
            try await tower.put("e1")
            try await tower.entry("e1") { $0.attempts == 1 }
            let before = tower.activeConfiguration.configuration
            var configuration = before
            configuration.channels = []
            tower.activeConfiguration.replace(with: configuration)
            try await tower.entry("e1") { $0.state == .waiting }
            let entries = try await tower.entries(of: "one")
            #expect(try await tower.control.waits(of: entries)["e1"]?.word == "channelMissing")
            let problems = try await tower.control.status().problems
            #expect(problems.contains { $0.kind == "channelMissing" && $0.message.contains("\"one\"") })
            tower.activeConfiguration.replace(with: before)
            try await tower.entry("e1") { $0.state == .delivered }
            #expect(try await server.records(2).map(\.id) == ["e1", "e1"])
        }
    }

    @Test func `of a channel that has been missing for longer than history is kept expires`() async throws {
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [], from: now - .seconds(91 * 86_400), keepers: []) {
            try await $0.put("old")
        }
        try await pumping.run(in: folder, [], from: now) { tower in
            try await tower.entry("old") { $0.state == .expired }
        }
    }

    @Test func `of a missing channel does not expire by a clock that leaps ahead`() async throws {
        try await Pumping().run([]) { tower in
            try await tower.put("e1")
            tower.activeConfiguration.replace(with: tower.activeConfiguration.configuration)
            try await tower.entry("e1") { $0.state == .waiting }
            tower.clock.set(to: tower.clock.now + .seconds(1000 * 86_400))
            try await tower.put("e2")
            tower.activeConfiguration.replace(with: tower.activeConfiguration.configuration)
            // Both are looked at in one transaction.
            try await tower.entry("e2") { $0.state == .waiting }
            #expect(try await tower.entries(of: "one").map(\.state) == [.waiting, .waiting])
        }
    }

    @Test func `follows a channel that was renamed, under its id`() async throws {
        let server = try await HookServer()
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [], from: now, keepers: []) { try await $0.put("e1", on: "old") }
        try await pumping.run(in: folder, [("new", server)], from: now) { tower in
            try await tower.entry("e1") { $0.state == .waiting }
            let retried = try await tower.control.retryChannel("new")
            #expect(retried == (0, "old", 1))
            try await tower.entry("e1") { $0.state == .delivered && $0.channel == "new" }
            #expect(try await server.record().id == "e1")
            await #expect(throws: EngineError.noSuchChannel("old")) {
                _ = try await tower.control.retryChannel("old")
            }
        }
    }

    @Test func `stays with a channel that was left out at the start`() async throws {
        let server = try await HookServer()
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [], from: now, keepers: []) { try await $0.put("e1", on: "hook") }
        try await pumping.run(in: folder, [("mail", server)], from: now) { tower in
            let form = try makeHookForm()
            tower.activeConfiguration.change {
                $0.leftOut = [
                    LeftOut(.channel("hook", form), place: "f:9", reason: "the secret can't be read")
                ]
            }
            try await tower.entry("e1") { $0.state == .waiting }
            #expect(try await tower.control.retryChannel("mail") == (0, nil, 0))
            let entry = try #require(try await tower.ledger.outbox(id: "e1"))
            #expect(entry.channel == "hook")
            #expect(try await tower.control.waits(of: [entry])["e1"]?.word == "channelLeftOut")
            await #expect(throws: EngineError.self) {
                _ = try await tower.control.retryChannel("mail", from: "hook")
            }
        }
    }

    @Test func `moves to a channel only where it is clear from which one`() async throws {
        let server = try await HookServer(["--status-plan", "hang"])
        let folder = try TemporaryFolder()
        let pumping = try Pumping()
        let now = Moment.now
        try await pumping.run(in: folder, [], from: now, keepers: []) { tower in
            for name in ["a", "b"] { try await tower.put(name, on: name) }
        }
        try await pumping.run(in: folder, [("new", server)], from: now) { tower in
            for name in ["a", "b"] { try await tower.entry(name) { $0.state == .waiting } }
            await #expect(throws: EngineError.severalMissing(channels: ["a", "b"], newChannel: "new")) {
                _ = try await tower.control.retryChannel("new")
            }
            #expect(try await tower.control.retryChannel("new", from: "a") == (0, "a", 1))
            // It has something of its own to send now: what is for another is left where it is.
            #expect(try await tower.control.retryChannel("new") == (1, nil, 0))
            #expect(try await tower.ledger.outbox(id: "b")?.state == .waiting)
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
