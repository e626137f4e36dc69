import Curl
import Delivery
import Engine
import Grouping
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@Suite(.timeLimit(.minutes(5))) struct `a channel with a fallback` {
    /// The channels `one`, whose answers are planned, and `two`, its fallback, which takes all unless planned.
    private func run(
        _ plan: String, _ otherPlan: String = "204", _ body: (Tower, HookServer) async throws -> Void
    ) async throws {
        let server = try await HookServer(["--status-plan", plan])
        let other = try await HookServer(["--status-plan", otherPlan])
        let curl = try CurlMulti()
        try await Tower.run(
            in: try TemporaryFolder(), at: .now, keepers: [.items, .outbox, .fallbacks],
            channels: [
                try makeHook("one", to: server.url(), curl: curl),
                try makeHook("two", to: other.url(), curl: curl),
            ], routes: [Route(when: [.failed, .recovered, .question], to: ["one"])],
            safety: [
                "one": ChannelSafety(fallback: "two"),
                "two": ChannelSafety(fallback: "one", fallbackAfter: .seconds(60)),
            ]
        ) { tower in try await body(tower, other) }
        withExtendedLifetime(server) {}
    }

    /// What happened to an entry's fallback: it is kept no longer.
    private func isForgotten(_ tower: Tower) async throws {
        try await tower.until { try await tower.ledger.nextFallback() == nil }
    }

    private func texts(_ tower: Tower) async throws -> [String] {
        try await tower.ledger.messages(bot: "belfry", search: nil, since: nil, limit: 9)
            .filter { $0.message.thread == "undelivered one" }.map(\.message.text)
    }

    @Test func `sends there what is refused for good, once, and says so`() async throws {
        try await run("400") { tower, other in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "two").first?.state == .delivered }
            let body = try #require(try await other.record().body)
            #expect(body.contains("backup") && body.contains(#"channel \"one\" did not deliver it"#))
            #expect(body.contains("answered 400"))
            #expect(try await tower.entries(of: "one").map(\.state) == [.dead])
            try await isForgotten(tower)
            // Tried again by hand it fails again; the other channel has it already.
            let id = try #require(try await tower.entries(of: "one").first?.id)
            _ = try await tower.control.retryEntry(id)
            try await tower.until { try await tower.ledger.outbox(id: id)?.attempts == 2 }
            try await tower.settled()
            #expect(try await tower.entries(of: "two").count == 1)
        }
    }

    @Test func `forgets it when it has arrived`() async throws {
        try await run("204") { tower, _ in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "one").first?.state == .delivered }
            try await isForgotten(tower)
            #expect(try await tower.entries(of: "two") == [])
        }
    }

    @Test func `sends there what does not arrive in time, and goes on trying`() async throws {
        try await run("503,503,204") { tower, _ in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "one").first?.attempts == 1 }
            #expect(try await tower.ledger.nextFallback() != nil)
            tower.clock.advance(by: .seconds(3600))
            try await tower.until { try await tower.entries(of: "two").first?.state == .delivered }
            try await isForgotten(tower)
            #expect(try await texts(tower).first?.contains("503") == true)
            // The second attempt was due long ago; after the third everything has arrived everywhere.
            try await tower.until { try await tower.entries(of: "one").first?.attempts == 2 }
            tower.clock.advance(by: .seconds(3600))
            try await tower.until { try await tower.entries(of: "one").first?.state == .delivered }
            #expect(try await tower.entries(of: "two").count == 1)
        }
    }

    @Test func `sends the recovery where the failure went`() async throws {
        try await run("400") { tower, other in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "two").first?.state == .delivered }
            try await tower.end("backup", .completed)
            try await tower.until { try await texts(tower).count == 2 }
            try await tower.settled()
            // A message that is not urgent waits a moment for others of its thread.
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "two").count == 2 }
            try await tower.until { try await tower.entries(of: "two").last?.state == .delivered }
            #expect(try await other.records(2).last?.body?.contains("recovered") == true)
            #expect(try await tower.entries(of: "one").map(\.state) == [.dead, .suppressed])
        }
    }

    private static func asking() -> QuestionDraft {
        QuestionDraft(id: freshID(), "Deploy it?", choices: ["yes", "no"])
    }

    @Test func `sends no question there that was answered meanwhile, nor its end`() async throws {
        try await run("503,503") { tower, _ in
            let question = try await tower.control.ask(Self.asking())
            try await tower.until { try await tower.ledger.nextFallback() != nil }
            _ = try await tower.control.answer(question.id, "yes", by: "cli")
            try await tower.until { try await tower.entries(of: "one").count == 2 }
            tower.clock.advance(by: .seconds(3600))
            try await isForgotten(tower)
            #expect(try await texts(tower) == [])
        }
    }

    @Test func `sends the end of a question where the question went`() async throws {
        try await run("400,400") { tower, _ in
            let question = try await tower.control.ask(Self.asking())
            try await tower.until { try await texts(tower).count == 1 }
            _ = try await tower.control.answer(question.id, "yes", by: "cli")
            try await tower.until { try await texts(tower).count == 2 }
            #expect(try await texts(tower).contains { $0.contains("Deploy it?") })
        }
    }

    /// Only the keeper of fallbacks, and an entry of `one` whose fallback is due after an hour.
    private func wait(
        _ state: OutboxState, heldUntil: Duration? = nil,
        setBack: Duration = .zero, _ body: (Tower, _ begin: Moment) async throws -> Void
    ) async throws {
        let (server, curl) = (try await HookServer(), try CurlMulti())
        try await Tower.run(
            in: try TemporaryFolder(), at: .now, keepers: [.fallbacks],
            channels: [
                try makeHook("one", to: server.url(), curl: curl),
                try makeHook("two", to: server.url(), curl: curl),
            ], routes: [], safety: ["one": ChannelSafety(fallback: "two")]
        ) { tower in
            tower.clock.set(to: tower.clock.now - setBack)
            let begin = tower.clock.now
            try await tower.ledger.commit([
                .insertOutbox(
                    OutboxRecord(
                        id: "a", channel: "one", cause: "a", type: "run.failed", reason: "failed",
                        state: state,
                        createdAt: begin, nextAt: begin + (heldUntil ?? .zero), body: [0x7B, 0x7D])),
                .putFallback(
                    FallbackRecord(
                        outbox: "a", channel: "two", dueAt: begin + .seconds(3600), title: "t", text: "x",
                        urgency: .normal)),
            ])
            try await body(tower, begin)
        }
    }

    @Test func `waits as long as it does after each release, however often a rule holds it`() async throws {
        try await wait(.held, heldUntil: .seconds(8 * 3600)) { tower, begin in
            tower.clock.advance(to: begin + .seconds(3600))
            try await tower.until { try await tower.ledger.nextFallback() == begin + .seconds(9 * 3600) }
            var move = OutboxMove(id: "a", from: .held, attempts: 0, to: .held, nextAttempts: 0)
            move.nextAt = begin + .seconds(20 * 3600)
            try await tower.ledger.commit([.moveOutbox(move)])
            tower.clock.advance(to: begin + .seconds(9 * 3600))
            try await tower.until { try await tower.ledger.nextFallback() == begin + .seconds(21 * 3600) }
        }
    }

    @Test func `is looked at once a second where many are waited for`() async throws {
        try await wait(.pending) { tower, begin in
            while await tower.clock.nextSleeper() != begin + .seconds(3600) {}
            try await tower.ledger.commit(
                (0..<150).flatMap { number -> [Change] in
                    let id = "many-\(number)"
                    let entry = OutboxRecord(
                        id: id, channel: "one", cause: id, type: "run.failed", reason: "failed", state: .dead,
                        createdAt: begin, nextAt: nil, body: [0x7B, 0x7D])
                    let fallback = FallbackRecord(
                        outbox: id, channel: "two", dueAt: begin + .seconds(3600), title: "t", text: id,
                        urgency: .normal)
                    return [.insertOutbox(entry), .putFallback(fallback)]
                })
            while await tower.clock.nextSleeper() != begin + .seconds(1) {}
            #expect(try await tower.ledger.fallbackCount() == 151)
            tower.clock.advance(to: begin + .seconds(1))
            try await tower.until { try await tower.ledger.fallbackCount() == 1 }
            #expect(try await tower.ledger.nextFallback() == begin + .seconds(3600))
        }
    }

    @Test func `is not put off by a clock that was set back after the start`() async throws {
        try await wait(.pending, setBack: .seconds(86_400)) { tower, begin in
            while await tower.clock.nextSleeper() != begin + .seconds(3600) {}
            tower.clock.advance(to: begin + .seconds(3600))
            try await isForgotten(tower)
            #expect(try await texts(tower).count == 1)
        }
    }

    @Test func `is not put off by a clock that is set back later`() async throws {
        try await wait(.pending) { tower, begin in
            while await tower.clock.nextSleeper() != begin + .seconds(3600) {}
            let back = begin - .seconds(86_400)
            tower.clock.set(to: back)
            while await tower.clock.nextSleeper() != back + .seconds(3600) {}
            tower.clock.advance(to: back + .seconds(3600))
            try await isForgotten(tower)
            #expect(try await texts(tower).count == 1)
        }
    }

    @Test func `never goes in circles`() async throws {
        try await run("400", "400") { tower, _ in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "two").first?.state == .dead }
            // The other channel has a fallback too, but not for what was sent elsewhere first.
            #expect(try await tower.ledger.nextFallback() == nil)
            #expect(try await tower.entries(of: "one").count == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a service that is edited in place, with a fallback` {
    private func run(_ plan: String, _ body: (Tower) async throws -> Void) async throws {
        let (server, other) = (try await HookServer(["--status-plan", plan]), try await HookServer())
        let (curl, clock) = (try CurlMulti(), ManualClock(now: .now))
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(server.url("")))
        values["chat"] = .word("7")
        values["token"] = .secrets([.file("/x")])
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        let chat = try HTTPEditor(
            name: "chat", form: try TelegramForm(values), secrets: FormSecrets(["token": ["1:abc"]]),
            userAgent: "Belfry/test", curl: curl, clock: clock, logger: quiet)
        try await Tower.run(
            in: try TemporaryFolder(), at: .now, keepers: [.items, .outbox, .surfaces, .fallbacks],
            channels: [chat, try makeHook("two", to: other.url(), curl: curl)],
            routes: [Route(when: [.failed], to: ["chat"])], safety: ["chat": ChannelSafety(fallback: "two")],
            body)
        withExtendedLifetime((server, other)) {}
    }

    @Test func `sends there what is refused for good`() async throws {
        try await run("400") { tower in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "two").first?.state == .delivered }
            let entry = try #require(try await tower.entries(of: "two").first)
            let body = String(decoding: entry.body, as: UTF8.self)
            #expect(body.contains(#"channel \"chat\" did not deliver it"#) && body.contains("backup"))
        }
    }

    @Test func `sends there what is not shown in time, once`() async throws {
        try await run("503") { tower in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.channel("chat", is: .failing)
            #expect(try await tower.entries(of: "two") == [])
            tower.clock.advance(by: .seconds(3600))
            try await tower.until { try await tower.entries(of: "two").first?.state == .delivered }
            // Tried again and refused again, it is no news for the other channel.
            for _ in 0..<3 { tower.clock.advance(by: .seconds(3600)) }
            try await tower.settled()
            #expect(try await tower.entries(of: "two").count == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel with a heartbeat` {
    @Test func `is sent a sign of life in each period, and one for those without a daemon`() async throws {
        let (server, folder) = (try await HookServer(), try TemporaryFolder())
        let hook = try makeHook("one", to: server.url(), curl: try CurlMulti())
        let safety = ["one": ChannelSafety(heartbeat: .seconds(86_400))]
        var now = Moment.now
        func run(_ body: (Tower) async throws -> Void) async throws {
            try await Tower.run(
                in: folder, at: now, keepers: [.items, .outbox, .heartbeats], channels: [hook],
                routes: [Route(when: [.failed], to: ["one"])], safety: safety, body)
        }
        func delivered(_ tower: Tower, _ count: Int) async throws {
            try await tower.until {
                try await tower.entries(of: "one").filter { $0.state == .delivered }.count == count
            }
        }
        try await run { tower in
            // Facts ring nobody.
            while try await tower.ledger.fact(named: "heartbeat.one") == nil { await Task.yield() }
            #expect(try await tower.entries(of: "one") == [])
            tower.clock.advance(by: .seconds(86_400))
            // A message waits a moment for others of its thread.
            try await tower.until { try await tower.ledger.lastEvent() == 1 }
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await delivered(tower, 1)
            #expect(try await server.record().body?.contains("Belfry is running: 0 jobs") == true)
            #expect(try await tower.ledger.unread() == [:])
        }
        now = now + .seconds(10 * 86_400)
        try await run { tower in
            try await tower.until { try await tower.ledger.lastEvent() == 2 }
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await delivered(tower, 2)
        }
    }
}
