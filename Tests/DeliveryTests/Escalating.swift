import Grouping
import Testing
import Timeline
import Tracking

@testable import Delivery

@Suite struct `what waits for somebody to see it elsewhere` {
    private let noon = Moment(seconds: 43_200)

    private func rules(_ routes: [Route]) -> DispatchRules {
        DispatchRules(
            routing: Routing(routes: routes),
            channels: [
                DispatchRules.Channel("desk", isLevel: true), DispatchRules.Channel("hook", isLevel: false),
                DispatchRules.Channel("phone", isLevel: false),
            ])
    }

    private func route(_ words: Set<RouteWord>, _ channels: [String], after wait: Duration? = nil) -> Route {
        var route = Route(when: words, to: channels)
        route.after = wait
        return route
    }

    /// The verdicts as `channel:send`, `channel:hold SECONDS` (after noon) or `channel:suppress REASON`.
    private func fates(_ matter: Matter, _ routes: [Route], after seconds: Int64 = 0) -> [String] {
        Dispatcher().dispatch(matter, by: rules(routes), at: noon + .seconds(seconds)).map { verdict in
            switch verdict.action {
            case .send: "\(verdict.channel):send"
            case .hold(_, let until, let reason):
                "\(verdict.channel):hold \((until - noon).components.seconds) \(reason.rawValue)"
            case .suppress(let reason): "\(verdict.channel):suppress \(reason.rawValue)"
            }
        }
    }

    private var failed: Matter {
        Matter(.runFailed(Fact.End(Fact.Run(job: "backup", id: "r1", bot: "ops"), reason: .exitCode)))
    }

    @Test func `goes to the channels of other routes at once, and to those of a route that waits later`() {
        let routes = [
            route([.failed], ["desk", "hook"]),
            route([.failed, .recovered], ["phone"], after: .seconds(900)),
        ]
        #expect(fates(failed, routes) == ["desk:send", "hook:send", "phone:hold 900 othersFirst"])
        // The least wait of the routes that lead there counts, and none of those that do not.
        #expect(
            fates(failed, routes + [route([.failed], ["phone"], after: .seconds(60))]).last
                == "phone:hold 60 othersFirst")
        #expect(fates(failed, routes + [route([.failed], ["phone"])]).last == "phone:send")
        #expect(fates(failed, routes + [route([.message], ["phone"])]).last == "phone:hold 900 othersFirst")
    }

    @Test func `is nothing that is over, and nothing that is edited in place`() {
        let run = Fact.Run(job: "backup", id: "r1", bot: "ops")
        let routes = [
            route([.failed, .recovered, .completed], ["desk", "phone"], after: .seconds(900))
        ]
        #expect(fates(failed, routes) == ["desk:send", "phone:hold 900 othersFirst"])
        #expect(fates(Matter(.runCompleted(Fact.End(run))), routes) == ["desk:send", "phone:send"])
        #expect(
            fates(Matter(.test(channel: nil)), [route([.test, .failed], ["phone"], after: .seconds(9))])
                == ["phone:send"])
    }

    @Test func `is a question with a grace, unless it was closed before`() {
        var question = Question(id: "q", bot: "ops", text: "?", choices: ["yes"], askedAt: noon)
        question.graceUntil = noon + .seconds(60)
        let routes = [route([.question, .failed], ["desk", "hook"])]
        let asked = Matter(.questionAsked(Fact.QuestionNews(question, run: nil)))
        #expect(fates(asked, routes) == ["desk:send", "hook:hold 60 othersFirst"])
        func answered(after seconds: Int64) -> [String] {
            let end = QuestionEnd(answer: "yes", by: "desk", at: noon + .seconds(seconds))
            let news = Fact.QuestionNews(question, run: nil, end: end)
            return fates(Matter(.questionAnswered(news)), routes, after: seconds)
        }
        #expect(answered(after: 59) == ["desk:send", "hook:suppress answeredBefore"])
        #expect(answered(after: 60) == ["desk:send", "hook:send"])
        // A service that edits in place is no desktop: it waits, too.
        let service = DispatchRules(
            routing: Routing(routes: [route([.question, .failed], ["desk", "chat"])]),
            channels: [
                DispatchRules.Channel("desk", isLevel: true),
                DispatchRules.Channel("chat", isLevel: true, isNear: false),
            ])
        let version = Matter(
            ItemSnapshot(
                key: .question("q"), revision: 1, bot: "ops", urgency: .normal, reason: .asked, at: noon,
                content: .question(question)), only: ["desk", "chat"])
        for matter in [asked, version] {
            let stages = Dispatcher().dispatch(matter, by: service, at: noon).map(\.stage)
            #expect(stages == [.route, .escalation])
            #expect(
                Dispatcher().dispatch(matter, by: service, at: noon + .seconds(60)).map(\.stage)
                    == [.route, .route])
        }
        // Without a desktop there is nobody to wait for.
        let alone = DispatchRules(
            routing: Routing(routes: routes), channels: [DispatchRules.Channel("hook", isLevel: false)])
        #expect(
            Dispatcher().dispatch(asked, by: alone, at: noon).map(\.stage) == [.route])
        question.graceUntil = nil
        let plain = Matter(.questionAsked(Fact.QuestionNews(question, run: nil)))
        #expect(
            fates(plain, [route([.question, .failed], ["phone"], after: .seconds(9))]) == [
                "phone:hold 9 othersFirst"
            ])
    }
}
