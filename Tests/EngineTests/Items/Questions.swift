import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a question` {
    private static let id = "0199a000-0000-7000-8000-00007a11c0de"
    private static let key = ItemKey.question(id)

    private func asking(_ openFor: Duration? = nil, default fallback: String? = nil) -> QuestionDraft {
        var asking = QuestionDraft(id: Self.id, "Deploy <b>it</b>?", choices: ["yes", "not now"])
        (asking.openFor, asking.fallback, asking.bot) = (openFor, fallback, "ops")
        return asking
    }

    private func end(_ tower: Tower) async throws -> QuestionEnd? {
        try await tower.ledger.question(id: Self.id)?.end
    }

    // MARK: Deadlines

    @Test(arguments: [
        ("not now", QuestionEnd(answer: "not now", by: "default", at: at("10:30:00"))),
        (nil, QuestionEnd(.expired, at: at("10:30:00"))),
    ])
    func `is closed at its deadline, by its default alone`(
        fallback: String?, expected: QuestionEnd
    ) async throws {
        try await Tower.run(keepers: [.questions]) { tower in
            _ = try await tower.control.ask(asking(.seconds(1800), default: fallback))
            _ = await tower.clock.nextSleeper()
            tower.clock.advance(by: .seconds(1799))
            #expect(try await end(tower) == nil)
            tower.clock.advance(by: .seconds(1))
            try await tower.until { try await end(tower) != nil }
            #expect(try await end(tower) == expected)
        }
    }

    /// A run that waits for the answer.
    private func run(_ tower: Tower, _ state: RunState) async throws -> RunRecord {
        var run = RunRecord(
            id: freshID(), job: "news", bot: "ops", kind: .manual, cause: RunCause.request(freshID()),
            state: state, queuedAt: at("10:00:00"), revision: 0)
        run.spec = .manual("news", "true")
        try await tower.ledger.commit([.insertRun(run, orIgnore: false)])
        return run
    }

    @Test(arguments: [true, false])
    func `is withdrawn when its run has ended, also while no daemon ran`(isSeen: Bool) async throws {
        let folder = try TemporaryFolder()
        var asked: RunRecord?
        try await Tower.run(in: folder, keepers: isSeen ? [.questions] : []) { tower in
            let run = try await run(tower, .running)
            (asked, _) = (run, try await tower.control.ask(asking(of: run)))
            if isSeen { _ = await tower.clock.nextSleeper() }
            var move = RunMove(run, from: [.running], to: .canceled, reason: .canceled)
            move.endedAt = at("10:00:01")
            try await tower.ledger.commit([
                .moveRun(move),
                .append(NewEvent(.runCanceled(.init(Fact.Run(run), reason: .canceled)), at: at("10:00:01"))),
            ])
            if isSeen { try await tower.until { try await end(tower)?.state == .withdrawn } }
        }
        try await Tower.run(in: folder, keepers: [.questions]) { tower in
            try await tower.until { try await end(tower)?.state == .withdrawn }
            // Nobody may ask for a run that has ended.
            var late = asking(of: try #require(asked))
            (late.id, late.outlivesItsAsker) = (freshID(), true)
            await #expect(throws: EngineError.self) { _ = try await tower.control.ask(late) }
        }
    }

    private func asking(of run: RunRecord) -> QuestionDraft {
        var asking = asking()
        (asking.run, asking.openFor) = (run.id, .seconds(3600))
        return asking
    }

    @Test func `whose deadline passed while no daemon ran is closed by the next`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, keepers: []) { tower in
            _ = try await tower.control.ask(asking(.seconds(60)))
        }
        try await Tower.run(in: folder, at: at("12:00:00"), keepers: [.questions]) { tower in
            try await tower.until { try await end(tower)?.state == .expired }
        }
    }

    /// The machine of a tower has been running for a minute.
    @Test(arguments: [true, false])
    func `of an earlier daemon is withdrawn unless its asker asks again`(asksAgain: Bool) async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, at: at("11:59:30"), keepers: []) { tower in
            _ = try await tower.control.ask(asking())
        }
        try await Tower.run(in: folder, at: at("12:00:00"), keepers: [.questions]) { tower in
            while await tower.clock.nextSleeper() != at("12:01:00") {}
            let claim = asksAgain ? tower.control.askers.claim(Self.id) : nil
            var other = asking(.seconds(3600))
            other.id = freshID()
            _ = try await tower.control.ask(other)
            tower.clock.advance(by: .seconds(60))
            if asksAgain {
                // It looked, and waits for the deadline of the other one.
                while await tower.clock.nextSleeper() != at("13:00:00") {}
                #expect(try await end(tower) == nil)
            } else {
                try await tower.until { try await end(tower)?.state == .withdrawn }
            }
            #expect(try await tower.ledger.question(id: other.id)?.end == nil, "its asker was never lost")
            withExtendedLifetime(claim) {}
        }
    }

    @Test func `outlives the power of the machine, whoever asked it`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, at: at("11:58:30"), keepers: []) { tower in
            _ = try await tower.control.ask(asking(.seconds(3600)))
        }
        try await Tower.run(in: folder, at: at("12:00:00"), keepers: [.questions]) { tower in
            // Nothing is looked at before its deadline.
            while await tower.clock.nextSleeper() != at("12:58:30") {}
            let closed = try await end(tower)
            #expect(closed == nil)
        }
    }

    @Test func `waits as long as it was to, however the clock is set`() {
        func reading(_ time: String, _ sinceBoot: Int) -> ClockReading {
            ClockReading(now: at(time), sinceBoot: .seconds(sinceBoot))
        }
        var deadlines = QuestionDeadlines()
        var question = Question(id: "q", bot: "ops", text: "?", choices: ["yes"], askedAt: at("10:00:00"))
        question.deadline = at("10:30:00")
        let record = QuestionRecord(question)
        func next(_ time: String, _ sinceBoot: Int, of open: Bool = true) -> Duration? {
            deadlines.next(of: open ? [question] : [], at: reading(time, sinceBoot))
        }
        func isDue(_ time: String, _ sinceBoot: Int) -> Bool {
            deadlines.due(of: [record], at: reading(time, sinceBoot)) == [record]
        }
        #expect(next("10:00:00", 100) == .seconds(1900))
        for time in ["05:00:00", "11:00:00"] {
            #expect(next(time, 1899) == .seconds(1900))
            #expect(!isDue(time, 1899))
        }
        #expect(isDue("05:00:00", 1900))
        #expect(next("05:30:00", 1900, of: false) == nil)
        // Seen first by a daemon whose clock was set back since it was asked.
        #expect(next("05:00:00", 0) == .seconds(1800))
    }

    @Test func `stays open when the clock is set ahead, and for as long as it was to`() async throws {
        try await Tower.run(keepers: [.questions]) { tower in
            _ = try await tower.control.ask(asking(.seconds(1800), default: "yes"))
            _ = await tower.clock.nextSleeper()
            tower.clock.set(to: at("11:00:00"))
            // It has looked at the clock again.
            while await tower.clock.nextSleeper() != at("11:30:00") {}
            #expect(try await end(tower) == nil)
            tower.clock.advance(by: .seconds(1800))
            try await tower.until { try await end(tower) != nil }
            #expect(try await end(tower) == QuestionEnd(answer: "yes", by: "default", at: at("11:30:00")))
        }
    }

    // MARK: Answers

    @Test func `is asked once and answered once`() async throws {
        try await Tower.run(keepers: []) { tower in
            let control = tower.control
            let first = try await control.ask(asking(.seconds(60)))
            tower.clock.advance(by: .seconds(5))
            #expect(try await control.ask(asking(.seconds(60))) == first)
            await #expect(throws: EngineError.noAnswer("maybe", choices: ["yes", "not now"])) {
                _ = try await control.answer("7a11c0de", "maybe", by: "cli")
            }
            let end = try #require(try await control.answer("7a11c0de", "YES", by: "cli").end)
            #expect(end.answer == "yes" && end.by == "cli")
            await #expect(throws: EngineError.questionClosed(Self.id, end)) {
                _ = try await control.answer(Self.id, "not now", by: "cli")
            }
            await #expect(throws: EngineError.questionClosed(Self.id, end)) {
                _ = try await control.withdraw(Self.id)
            }
            await #expect(throws: EngineError.noSuchQuestion("ffffffff")) {
                _ = try await control.withdraw("ffffffff")
            }
            #expect(try await tower.eventTypes() == [.questionAsked, .questionAnswered])
        }
    }

    @Test func `keeps the look it was asked with, also over a restart of the server`() async throws {
        let bus = try await PrivateBus.start()
        var server = try await NotificationServer.start(at: bus.address)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(keepers: [.items, .surfaces], channels: [desk], hasRoutes: false) { tower in
            var asking = asking()
            asking.appearance = Appearance(
                icon: "drive-harddisk", soundName: "/srv/a.oga", category: "device")
            asking.urgency = .critical
            _ = try await tower.control.ask(asking)
            for isFirst in [true, false] {
                let call = try #require(try await server.next())
                #expect(call.icon == "drive-harddisk" && call.hints["category"] == "s:device")
                #expect(call.hints["urgency"] == "y:2" && call.expiry == 0)
                if isFirst { #expect(call.hints["sound-file"] == "s:/srv/a.oga") }
                guard isFirst else { return }
                try await tower.until {
                    try await tower.ledger.surface(channel: "desk", item: "\(Self.key)")?.remote != nil
                }
                await server.process.end()
                server = try await NotificationServer.start(at: bus.address)
            }
        }
    }

    @Test func `is answered by a button of the desktop, and closed there`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            keepers: [.items, .surfaces, .questions], channels: [desk], hasRoutes: false
        ) { tower in
            _ = try await tower.control.ask(asking(.seconds(1800), default: "not now"))
            let call = try #require(try await server.next())
            #expect(call.summary == "ops asks")
            #expect(
                call.body == "Deploy &lt;b&gt;it&lt;/b&gt;?\nno answer within 30 min means not now")
            #expect(call.actions == ["answer-1", "yes", "answer-2", "not now"])
            #expect(call.icon == "dialog-question" && call.hints["urgency"] == "y:1")
            #expect(call.icon == "dialog-question" && call.expiry == 0 && call.hints["urgency"] == "y:1")
            try server.press("answer-2", of: call.id)
            try await tower.until { try await end(tower) != nil }
            let closed = try #require(try await end(tower))
            #expect(closed.answer == "not now" && closed.by == "desk")
            #expect(try await server.next("CloseNotification")?.id == call.id)
            #expect(try await tower.eventTypes().contains(.itemActed))
        }
    }

    @Test func `is answered by what a person types, where a server takes that`() async throws {
        try await askForText(choices: ["none"]) { tower, server, call in
            #expect(call.actions == ["answer-1", "none", "inline-reply", "Reply"])
            #expect(call.hints["x-kde-reply-placeholder-text"] == "s:Reply to ops")
            #expect(call.body == "Deploy <b>it</b>?")
            try server.reply("call it tower", to: call.id)
            try await tower.until { try await end(tower) != nil }
            #expect(try await end(tower)?.answer == "call it tower")
            #expect(try await end(tower)?.by == "desk")
        }
    }

    /// Letters, one letter with very many marks, markup, and marks that turn the direction of writing.
    @Test(arguments: [
        String(repeating: "a", count: 1 << 20), "e" + String(repeating: "\u{301}", count: 1 << 19),
        "<b>yes</b> & \u{202E}on\u{202C} \u{1B}[2J",
    ])
    func `is answered once by a reply of any length and any characters`(reply: String) async throws {
        try await askForText(choices: []) { tower, server, call in
            try server.reply(reply, to: call.id)
            try await tower.until { try await end(tower) != nil }
            let answer = try #require(try await end(tower)?.answer)
            #expect(answer == String(reply.unicodeScalars.prefix(16_000)))
            #expect(try await server.next("CloseNotification")?.id == call.id)
            await #expect(throws: EngineError.self) {
                _ = try await tower.control.answer(Self.id, "other", by: "cli")
            }
            #expect(try await tower.eventTypes().filter { $0 == .questionAnswered }.count == 1)
        }
    }

    /// Asks a question that takes any text, by a server that takes typed replies; `body` gets what the server was sent.
    private func askForText(
        choices: [String],
        _ body: (Tower, NotificationServer, ServerCall) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(
            at: bus.address, "--capabilities", "actions,body,inline-reply")
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            keepers: [.items, .surfaces, .questions], channels: [desk], hasRoutes: false
        ) { tower in
            var draft = asking()
            (draft.choices, draft.takesText) = (choices, true)
            _ = try await tower.control.ask(draft)
            let call = try #require(try await server.next())
            try await body(tower, server, call)
        }
    }

    @Test func `without buttons says how to answer`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--capabilities", "body")
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(keepers: [.items, .surfaces], channels: [desk], hasRoutes: false) { tower in
            _ = try await tower.control.ask(asking())
            let call = try #require(try await server.next())
            #expect(call.actions.isEmpty)
            #expect(call.body == "Deploy <b>it</b>?\nbelfry answer 7a11c0de yes|'not now'")
            // Answered elsewhere, it leaves the screen.
            _ = try await tower.control.answer(Self.id, "yes", by: "cli")
            #expect(try await server.next("CloseNotification")?.id == call.id)
        }
    }

    @Test func `put away by a person stays open, and away`() async throws {
        let folder = try TemporaryFolder()
        let desk = makeDesk(clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(in: folder, channels: [desk], hasRoutes: false) { tower in
            _ = try await tower.control.ask(asking())
            try await tower.settled()
            #expect(try await tower.shown(Self.key)?.reason == .asked)
            let away = Fact.itemDismissed(Fact.Dismissal("\(Self.key)", on: "desk", revision: 1))
            try await tower.ledger.commit([.append(NewEvent(away, at: tower.clock.now))])
            try await tower.settled()
            #expect(try await tower.shown(Self.key) == nil)
            #expect(try await end(tower) == nil)
        }
    }

    // MARK: Webhooks

    @Test func `is sent to webhooks when it is asked and when it is answered`() async throws {
        let channels: [any Channel] = [try makeHook("hook", curl: try CurlMulti())]
        try await Tower.run(channels: channels, hasRoutes: false) { tower in
            _ = try await tower.control.ask(asking(.seconds(60)))
            _ = try await tower.control.answer(Self.id, "yes", by: "cli")
            try await tower.settled()
            let entries = try await tower.entries(of: "hook")
            #expect(entries.map(\.type) == ["question.asked", "question.answered"])
            let objects = entries.map { JSON(parsing: $0.body[...])?["data"]?["question"] }
            #expect(objects[0]?["id"]?.text == Self.id && objects[0]?["state"]?.text == "open")
            #expect(objects[0]?["deadline"]?.text == at("10:01:00").iso8601)
            #expect(objects[1]?["answer"]?.text == "yes" && objects[1]?["answeredBy"]?.text == "cli")
        }
    }
}

@Suite struct `the outlook of an item` {
    private let now = at("10:00:00")

    private func outlook(_ change: (inout LiveState) -> Void) -> String? {
        let task = LiveTask(id: "a", botID: "ops", run: "backup#7", name: "backup", botName: "ops")
        var live = LiveState(task: task, attempt: 1, seq: 1, state: .running, updatedAt: now)
        live.finish = FinishTime(at: now + .seconds(6), low: now + .seconds(5), high: now + .seconds(7))
        live.usual = .seconds(720)
        change(&live)
        return JobFact(live, at: now).outlook
    }

    @Test func `is how long a run still takes whose progress keeps the words true`() {
        #expect(outlook { $0.progress = 0.5 } == "about 6 s left")
        #expect(outlook { ($0.progress, $0.finish) = (0.5, nil) } == nil)
    }

    @Test func `is how long the job usually takes where nothing would change the words`() {
        #expect(outlook { _ in } == "usually 12 min")
        #expect(outlook { $0.usual = nil } == nil)
    }

    @Test func `is none of a run that is not at work`() {
        for state in RunState.allCases where state != .running {
            #expect(outlook { $0.state = state } == nil)
        }
    }
}
