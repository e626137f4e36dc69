import Delivery
import Grouping
import Testing

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
