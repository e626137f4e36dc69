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
struct Pumping {
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
    func put(_ id: String, on channel: String = "one", run: String? = nil) async throws {
        try await ledger.commit([
            .insertOutbox(
                OutboxRecord(
                    id: id, channel: channel, cause: "event:\(id)", type: "run.failed", reason: "failed",
                    createdAt: clock.now, nextAt: clock.now, run: run, body: Array(#"{"id":"\#(id)"}"#.utf8)))
        ])
    }

    /// Waits until the entry is as it should be.
    func entry(_ id: String, _ fits: (OutboxRecord) -> Bool) async throws {
        try await until { try await ledger.outbox(id: id).map(fits) ?? false }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an outbox entry` {
    @Test func `of progress that waited until its run was over does not keep the end of it waiting`()
        async throws
    {
        let server = try await HookServer()
        try await Pumping().run([("one", server)]) { tower in
            let run = try await tower.end("backup", .canceled)
            func entry(_ id: String, _ type: EventType, waiting: Int64 = 0) -> Change {
                let at = tower.clock.now - .seconds(waiting)
                return .insertOutbox(
                    OutboxRecord(
                        id: id, channel: "one", cause: id, type: type.rawValue, reason: "r", createdAt: at,
                        nextAt: at, run: run.id, body: Array(#"{"id":"\#(id)"}"#.utf8)))
            }
            try await tower.ledger.commit([
                entry("old", .runProgress, waiting: 600), entry("older", .runProgress, waiting: 60),
                entry("new", .runProgress), entry("end", .runCanceled),
            ])
            try await tower.entry("end") { $0.state == .delivered }
            #expect(try await server.records(2).map(\.id) == ["new", "end"])
            for id in ["old", "older"] {
                try await tower.entry(id) { $0.state == .expired && $0.lastError != nil }
            }
            // Whoever wants it all the same gets it.
            _ = try await tower.control.retryEntry("old")
            try await tower.entry("old") { $0.state == .delivered }
        }
    }

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
        inHand.endRewriting(["a", "b"])
        // What was broken off may have arrived: its id stands for that text.
        #expect(inHand.beginSending("c", readAfter: inHand.rewritings))
        inHand.endSending("c", isBrokenOff: true)
        #expect(!inHand.beginRewriting("c"))
        #expect(inHand.beginSending("c", readAfter: inHand.rewritings))
    }
}
