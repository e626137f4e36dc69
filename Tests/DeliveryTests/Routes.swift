import Delivery
import Grouping
import Testing
import Timeline
import Tracking

@Suite struct `a route's word` {
    @Test(arguments: [
        ("run.failed", RouteWord.failed), ("run.started", .started), ("run.lost", .lost),
        ("run.late", .late), ("run.slow", .slow), ("run.stuck", .stuck), ("run.flapping", .flapping),
        ("message.group", .message), ("question.asked", .question), ("question.answered", .question),
        ("channel.failing", .channel), ("config.reloaded", .config), ("ledger.full", .ledger),
        ("clock.back", .clock), ("config.partial", .config), ("job.leftOut", .config),
        ("bot.status", .bot), ("bot.budget", .bot), ("gateway.job", .gateway),
        ("test", .test),
    ])
    func `names the type of an event`(_ type: String, _ word: RouteWord) {
        #expect(RouteWord(eventType: type) == word)
    }

    @Test(arguments: [
        "", "run", "run.", "run.message", "run.test", "message.other", "failed", "test.x", "job.x",
    ])
    func `names no other type`(_ type: String) {
        #expect(RouteWord(eventType: type) == nil)
    }
}

@Suite struct `a list of routes` {
    private let routing = Routing(routes: [
        Route(when: [.failed, .missed, .recovered], to: ["hook", "desk"]),
        Route(when: [.message, .failed], to: ["desk", "pager"]),
    ])

    @Test func `notifies every channel of every route that names the event, each once`() {
        #expect(routing.channels(for: "run.failed") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "message.group") == ["desk", "pager"])
        #expect(routing.channels(for: "run.completed").isEmpty)
    }

    @Test func `sends a lost run, and a full disk, where failures go when nothing else is set`() {
        #expect(routing.channels(for: "run.lost") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "run.stuck") == ["hook", "desk", "pager"])
        for type in ["run.late", "run.slow", "run.flapping"] {
            #expect(routing.channels(for: type).isEmpty)
        }
        #expect(routing.channels(for: "ledger.full") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "clock.back") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "job.leftOut") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "config.partial", about: "hook") == ["desk", "pager"])
        #expect(routing.channels(for: "bot.budget") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "gateway.job") == ["hook", "desk", "pager"])
        #expect(routing.channels(for: "bot.status").isEmpty)
        #expect(routing.channels(for: "config.reloaded").isEmpty)
        let own = Routing(routes: routing.routes + [Route(when: [.lost], to: ["pager"])])
        #expect(own.channels(for: "run.lost") == ["pager"])
    }

    @Test func `sends a question where messages go, or else failures, when nothing else is set`() {
        #expect(routing.channels(for: "question.asked") == ["desk", "pager"])
        let silent = Routing(routes: [Route(when: [.failed], to: ["hook"])])
        #expect(silent.channels(for: "question.expired") == ["hook"])
        let own = Routing(routes: routing.routes + [Route(when: [.question], to: ["hook"])])
        #expect(own.channels(for: "question.withdrawn") == ["hook"])
    }

    @Test func `reports a broken channel on the others`() {
        #expect(routing.channels(for: "channel.failing", about: "hook") == ["desk", "pager"])
    }

    @Test func `knows which events of jobs some channels want`() {
        #expect(routing.hears(["hook"]) == [.failed, .missed, .recovered, .lost])
        #expect(routing.hears(["pager"]) == [.failed, .lost])
        #expect(routing.hears(["nobody"]).isEmpty)
    }

    @Test func `refuses a failure without a route, and routes that lead nowhere`() {
        let bad = Routing(routes: [
            Route(when: [.message], to: ["desk", "dsek"]), Route(when: [], to: ["desk"]),
            Route(when: [.test], to: []),
        ])
        #expect(
            bad.problems(channels: ["desk"]) == [
                .unknownChannel("dsek", route: 0), .noEvents(route: 1), .noChannels(route: 2),
                .failureWithoutRoute,
            ])
        #expect(routing.problems(channels: ["hook", "desk", "pager"]).isEmpty)
    }
}

@Suite struct `the default route` {
    private let channels = [
        DispatchRules.Channel("desk", isLevel: true), DispatchRules.Channel("hook", isLevel: false),
    ]
    private let run = Fact.Run(job: "backup", id: "r1", bot: "ops")
    private let noon = Moment(seconds: 43_200)

    /// The verdicts as `channel:action reason`.
    private func decide(
        _ fact: Fact, asked: Bool = false, lasted: Int = 0, after: Int? = nil, wish: NotifyWish? = nil,
        by routing: Routing? = nil
    ) -> [String] {
        var matter = Matter(fact)
        matter.run = RoutineRun(
            isAsked: asked, startedAt: noon - .seconds(lasted), lasted: .seconds(lasted),
            completionAfter: after.map { .seconds($0) })
        (matter.wish, matter.isEnd) = (wish, true)
        let rules = DispatchRules(routing: routing ?? .standard(to: ["desk", "hook"]), channels: channels)
        return Dispatcher().dispatch(matter, by: rules, at: noon).map { verdict in
            switch verdict.action {
            case .send: "\(verdict.channel):send"
            case .hold(_, let until, let reason): "\(verdict.channel):hold \(until - noon) \(reason)"
            case .suppress(let reason): "\(verdict.channel):\(reason)"
            }
        }
    }

    private var completed: Fact { .runCompleted(Fact.End(run)) }

    @Test func `reports what matters, always`() {
        let span = Fact.Slots.Span(first: noon, last: noon, count: 1)
        let facts: [Fact] = [
            .runFailed(Fact.End(run, reason: .exitCode)), .runLost(Fact.End(run)),
            .runMissed(Fact.Slots(job: "backup", bot: "ops", reason: .catchUpNone, span)),
            .runRecovered(Fact.Recovery(run, outage: .seconds(60))),
            .runBlocked(Fact.Blocked(run, kind: .question)), .ledgerFull,
        ]
        for fact in facts { #expect(decide(fact) == ["desk:send", "hook:send"], "\(fact.type)") }
    }

    @Test func `reports no scheduled success, however long it took`() {
        #expect(decide(completed, lasted: 9000) == ["desk:scheduledSuccess", "hook:scheduledSuccess"])
    }

    @Test func `reports the success of what a person asked for after ten seconds, or its own limit`() {
        #expect(decide(completed, asked: true, lasted: 9) == ["desk:shortRun", "hook:shortRun"])
        #expect(decide(completed, asked: true, lasted: 10) == ["desk:send", "hook:send"])
        #expect(decide(completed, asked: true, lasted: 29, after: 30) == ["desk:shortRun", "hook:shortRun"])
        #expect(decide(completed, asked: true, lasted: 30, after: 30) == ["desk:send", "hook:send"])
        #expect(decide(completed, asked: true, after: 0) == ["desk:send", "hook:send"])
        #expect(decide(completed, wish: .always) == ["desk:send", "hook:send"])
    }

    @Test func `gives way to the outcomes that a job names`() {
        let failed = Fact.runFailed(Fact.End(run, reason: .exitCode))
        let silent = ["desk:notWished", "hook:notWished"]
        #expect(decide(completed, wish: .only([.completed])) == ["desk:send", "hook:send"])
        #expect(decide(failed, wish: .only([.completed])) == silent)
        #expect(decide(.runLost(Fact.End(run)), wish: .only([.failed])) == ["desk:send", "hook:send"])
        #expect(decide(.runCanceled(Fact.End(run)), wish: .only([.canceled])) == ["desk:send", "hook:send"])
        let span = Fact.Slots.Span(first: noon, last: noon, count: 1)
        let missed = Fact.runMissed(Fact.Slots(job: "backup", bot: "ops", reason: .catchUpNone, span))
        #expect(decide(missed, wish: .never) == silent)
        #expect(decide(missed, wish: .only([.failed])) == silent)
        // That it is at work is no outcome.
        #expect(decide(.runStarted(run), lasted: 5, wish: .only([.failed])) == ["desk:send", "hook:routine"])
        // A route of failures carries what no route names.
        let routing = Routing(routes: [Route(when: [.failed], to: ["hook"])])
        #expect(decide(completed, wish: .only([.completed]), by: routing) == ["hook:send"])
        #expect(decide(completed, by: routing).isEmpty)
    }

    @Test(arguments: ["always", "failure", "never", "completed,failed", "missed"])
    func `knows a wish by its text`(text: String) {
        #expect(NotifyWish(rawValue: text)?.rawValue == text)
        for wrong in ["\(text),", "x,\(text)", ""] where wrong != "\(text)," {
            #expect(NotifyWish(rawValue: wrong) == nil)
        }
    }

    @Test func `leaves out what a person or the job's own rules ended`() {
        #expect(decide(.runCanceled(Fact.End(run))) == ["desk:routine", "hook:routine"])
        let skipped = Fact.slotsSkipped(Fact.Slots(job: "backup", bot: "ops", reason: .paused, nil))
        #expect(decide(skipped) == ["desk:routine", "hook:routine"])
    }

    @Test func `shows a start after five seconds where the result can replace it`() {
        #expect(decide(.runStarted(run), lasted: 2) == ["desk:hold 3.0 seconds justStarted", "hook:routine"])
        #expect(decide(.runStarted(run), lasted: 5) == ["desk:send", "hook:routine"])
        // A clock that was set back holds nothing for an hour.
        #expect(
            decide(.runStarted(run), lasted: -3600) == ["desk:hold 5.0 seconds justStarted", "hook:routine"])
    }

    @Test func `is another thing than a route that names the word, which gets every event`() {
        let routing = Routing(routes: [Route(when: Set(RouteWord.allCases), to: ["desk", "hook"])])
        for fact in [completed, .runStarted(run), .runCanceled(Fact.End(run))] {
            #expect(decide(fact, by: routing) == ["desk:send", "hook:send"], "\(fact.type)")
        }
    }

    @Test func `or any other sends a recovery only where the failure went`() {
        func recovered(_ channels: [String]?, _ routing: Routing? = nil) -> [String] {
            decide(.runRecovered(Fact.Recovery(run, outage: .zero, channels: channels)), by: routing)
        }
        #expect(recovered(["hook"]) == ["desk:failureNotSent", "hook:send"])
        #expect(recovered(nil) == ["desk:send", "hook:send"])
        // Who asks for recoveries alone gets them.
        let alone = Routing(routes: [
            Route(when: [.failed], to: ["hook"]), Route(when: [.recovered], to: ["desk", "hook"]),
        ])
        #expect(recovered(["hook"], alone) == ["desk:send", "hook:send"])
        #expect(recovered([], alone) == ["desk:send", "hook:failureNotSent"])
    }
}
