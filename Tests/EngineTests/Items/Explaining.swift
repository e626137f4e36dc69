import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

/// A stage of a test: everything is kept until this moment.
private struct Quiet: DispatchStage {
    let end: Moment
    var name: StageName { .quietHours }

    func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        if case .fact(.test) = matter.subject { return .pass }
        return now < end ? .hold(until: end, .quietHours) : .pass
    }
}

extension Tower {
    /// How far what was let through has got: `channel state waitsFor error`.
    fileprivate func deliveries(_ name: String) async throws -> [String] {
        try await control.why(name, limit: 100).compactMap { explanation in
            explanation.delivery.map {
                "\(explanation.verdict.channel) \($0.state.rawValue) \($0.waitsFor ?? "-") \($0.error ?? "-")"
            }
        }
    }

    /// Why it rang, or did not: `event channel:action stage reason`.
    fileprivate func why(_ name: String) async throws -> [String] {
        try await control.why(name, limit: 100).map { explanation in
            let verdict = explanation.verdict
            return "\(explanation.type?.rawValue ?? "-") \(verdict.channel):\(verdict.action.rawValue) "
                + "\(verdict.stage.rawValue) \(verdict.reason)"
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `why something rang or did not` {
    let curl: CurlMulti
    let channels: [any Channel]
    let main = ItemKey.thread(bot: "ops", thread: "main")

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    private func tower(
        _ routes: [Route], dispatcher: Dispatcher = Dispatcher(), _ body: (Tower) async throws -> Void
    ) async throws {
        try await Tower.run(channels: channels, routes: routes, dispatcher: dispatcher, body)
    }

    @Test func `is known of a run, channel by channel, and also of what no route names`() async throws {
        try await tower([Route(when: [.failed], to: ["hook", "desk"])]) { tower in
            let failed = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            let why = ["run.failed desk:send route failed", "run.failed hook:send route exitCode"]
            #expect(try await tower.why(failed.name) == why)
            #expect(try await tower.why(failed.id) == why)
            #expect(try await tower.why("backup") == why, "its newest run")
            let explanation = try #require(try await tower.control.why(failed.id, limit: 9).first)
            #expect(explanation.run == failed.name && explanation.verdict.item == "job:backup")
            tower.clock.advance(by: .seconds(600))
            let completed = try await tower.end("other", .completed)
            try await tower.settled()
            #expect(try await tower.why(completed.id) == ["run.completed :suppress route noRoute"])
            #expect(try await tower.why("job:backup") == why)
            let entry = try #require(try await tower.entries(of: "hook").first)
            #expect(try await tower.why(entry.id) == ["run.failed hook:send route exitCode"])
            await #expect(throws: EngineError.nothingToExplain("backup#9")) {
                _ = try await tower.why("backup#9")
            }
        }
    }

    @Test func `says what is still to be sent or shown, and what it waits for`() async throws {
        try await tower([Route(when: [.failed, .recovered], to: ["hook", "desk"])]) { tower in
            let first = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.health.note(.away, of: "desk", error: "no bus", isAbsent: true, at: tower.clock.now)
            #expect(
                try await tower.deliveries(first.id) == ["desk waits away no desktop here", "hook waits - -"])
            let entry = try #require(try await tower.entries(of: "hook").first)
            var sent = OutboxMove(id: entry.id, from: .pending, attempts: 0, to: .delivered, nextAttempts: 1)
            sent.settledAt = tower.clock.now
            try await tower.ledger.commit([.moveOutbox(sent)])
            #expect(
                try await tower.deliveries(first.id) == [
                    "desk waits away no desktop here", "hook delivered - -",
                ])
            tower.clock.advance(by: .seconds(5))
            let second = try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await tower.deliveries(first.id).first == "desk replaced - -")
            tower.clock.advance(by: .seconds(5))
            let shown = Int64(try #require(try await tower.shown(.job("backup"))?.revision))
            try await tower.ledger.commit([
                .showSurface(
                    channel: "desk", item: "job:backup", revision: shown,
                    remote: RemoteID(generation: ":1", id: "1"), at: tower.clock.now)
            ])
            #expect(try await tower.deliveries(second.id).first == "desk delivered - -")
            #expect(try await tower.deliveries(first.id).first == "desk replaced - -", "it was never shown")
            tower.clock.advance(by: .seconds(5))
            for job in ["a", "b", "c"] { try await tower.end(job, .failed, exitCode: 2) }
            try await tower.settled()
            // One notice lists them: the first one's own was taken back before anybody saw it.
            #expect(try await tower.deliveries("a#1").first == "desk withdrawn - -")
            #expect(try await tower.deliveries("c#1").first == "desk waits away no desktop here")
        }
    }

    @Test func `is known by a short id, unless several things could be meant`() async throws {
        try await tower([Route(when: [.failed, .message], to: ["hook", "desk"])]) { tower in
            let failed = try await tower.end("backup", .failed, exitCode: 1)
            let message = try await tower.say("the tape is full")
            try await tower.settled()
            let run = String(failed.id.suffix(8))
            #expect(try await tower.why(run) == tower.why(failed.id))
            #expect(try await tower.control.message(String(message.id.suffix(8))).message == message)
            let entry = try #require(try await tower.entries(of: "hook").first)
            #expect(try await tower.control.entry(String(entry.id.suffix(8).prefix(6))) == entry)
            await #expect(throws: EngineError.noSuchMessage(run)) { _ = try await tower.control.message(run) }
            let ids = ["019a2f6c-5f40-7c3e-9d2b-0c6f2f1b7a11", "019a2f6c-5f41-7000-8000-0c6f2f1baaaa"]
            for id in ids {
                let message = Message(
                    id: id, bot: "ops", thread: "main", text: "tape\nfull", at: tower.clock.now)
                try await tower.ledger.commit([.insertMessage(MessageRecord(message: message))])
            }
            let refusal = EngineError.ambiguousID(
                "019a2f", candidates: ids.reversed().map { $0 + "  message of ops: tape full" })
            await #expect(throws: refusal) { _ = try await tower.why("019a2f") }
            await #expect(throws: refusal) { _ = try await tower.control.read("019a2f") }
        }
    }

    @Test func `is known of each message: those shown together share the verdict`() async throws {
        try await tower([Route(when: [.message, .failed], to: ["hook", "desk"])]) { tower in
            let one = try await tower.say("one")
            let two = try await tower.say("two")
            try await tower.settled()
            #expect(try await tower.why(one.id).isEmpty, "it waits for more")
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.shown(main)?.revision == 1 }
            let why = ["message.posted desk:send route first", "message.posted hook:send route first"]
            #expect(try await tower.why(one.id) == why)
            #expect(try await tower.why(two.id) == why)
            let three = try await tower.say("three")
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.shown(main)?.revision == 2 }
            // The entry was never tried: the later group took its place.
            #expect(
                try await tower.why(three.id) == [
                    "message.posted desk:send route tooSoon", "message.posted hook:send grouping tooSoon",
                ])
            #expect(try await tower.why(one.id) == why)
            #expect(try await tower.why("\(main)").count == 4)
            let entry = try #require(try await tower.entries(of: "hook").first)
            #expect(try await tower.why(entry.id).count == 2)
        }
    }

    @Test func `is that a person had read it; what was put away says nothing of another run`() async throws {
        try await tower([Route(when: [.message, .failed], to: ["desk"])]) { tower in
            let message = try await tower.say("one")
            _ = try await tower.control.read(message.id)
            try await tower.settled()
            #expect(try await tower.why(message.id) == ["message.posted desk:suppress dismissal read"])
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            let revision = try #require(try await tower.shown(.job("backup"))?.revision)
            let dismissal = Fact.Dismissal("job:backup", on: "desk", revision: revision)
            try await tower.ledger.commit([.append(NewEvent(.itemDismissed(dismissal), at: tower.clock.now))])
            tower.clock.advance(by: .seconds(60))
            let again = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            let why = try await tower.why(again.id)
            #expect(why == ["run.failed desk:send route sameFailure"])
        }
    }

    @Test func `writes nothing for progress`() async throws {
        try await tower([Route(when: [.progress, .failed], to: ["desk"])]) { tower in
            let run = try await tower.begin("backup")
            let task = LiveTask(id: run.id, botID: "ops", run: run.name, name: "backup", botName: "ops")
            await tower.board.enter(task, attempt: 1, state: .running, saved: nil, at: tower.clock.now)
            for part in 1...3 {
                _ = await tower.board.receive(
                    ProgressReport(fraction: Double(part) / 4), of: run.id, at: tower.clock.now)
                tower.clock.advance(by: .seconds(2))
                try await tower.until {
                    guard case .job(let report)? = try await tower.shown(.job("backup"))?.content else {
                        return false
                    }
                    return report.fact.progress == Double(part) / 4
                }
            }
            #expect(
                try await tower.ledger.verdicts(
                    onItem: "job:backup", from: 0, newest: true, limit: 9
                ).isEmpty)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `what a rule holds` {
    @Test func `is kept in the outbox until its moment, whatever happens to the channel, and then sent`()
        async throws
    {
        let server = try await HookServer()
        let curl = try CurlMulti()
        let hook = try makeHook("hook", to: server.url(), curl: curl)
        var bot = BotProfile(name: "ops", urgency: .normal)
        bot.restraint.quiet = try DailyHours(["09:00-12:00"], in: .utc)
        try await Tower.run(
            keepers: [.items, .outbox], channels: [hook], routes: [Route(when: [.failed], to: ["hook"])],
            bots: ["ops": bot]
        ) { tower in
            let run = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            let held = try #require(try await tower.entries(of: "hook").first)
            #expect(held.state == .held && held.nextAt == at("12:00:00"))
            let verdict = try #require(try await tower.control.why(run.id, limit: 9).first?.verdict)
            #expect(verdict.action == .hold && verdict.stage == .quietHours)
            #expect(verdict.until == at("12:00:00") && verdict.reason == "quietHours")
            // The channel works, as a test shows, and all that waits for it is released.
            try await tower.control.testChannel("hook")
            _ = try await server.record()
            _ = try await tower.control.retryChannel("hook")
            #expect(try await tower.ledger.outbox(id: held.id)?.state == .held)
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await tower.ledger.outbox(id: held.id)?.state == .delivered }
            #expect(try await server.record().id == held.id)
        }
    }

    @Test func `is shown at its moment where items are edited in place, also after a restart`() async throws {
        let folder = try TemporaryFolder()
        let desk = makeDesk(clock: ManualClock(now: at("10:00:00")))
        let dispatcher = Dispatcher(adding: [Quiet(end: at("12:00:00"))])
        let routes = [Route(when: [.failed], to: ["desk"])]
        try await Tower.run(in: folder, channels: [desk], routes: routes, dispatcher: dispatcher) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.shown(.job("backup"))?.revision == 1)
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).isEmpty)
        }
        try await Tower.run(
            in: folder, at: at("11:00:00"), channels: [desk], routes: routes, dispatcher: dispatcher
        ) { tower in
            try await tower.settled()
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).isEmpty)
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "job:backup")?.wanted == 1
            }
            #expect(try await tower.ledger.surface(channel: "desk", item: "job:backup")?.ring == true)
        }
    }
}
