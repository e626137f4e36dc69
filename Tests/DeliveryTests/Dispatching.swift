import Delivery
import Grouping
import Testing
import Timeline
import Tracking

/// A stage of a test: from ten in the morning UTC on everything for one channel is kept until the evening.
private struct Siesta: DispatchStage {
    var channel: String
    let start = Moment(seconds: 36_000)
    let end = Moment(seconds: 72_000)
    var name: StageName { .quietHours }

    func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        channel.name == self.channel && now >= start && now < end ? .hold(until: end, .quietHours) : .pass
    }
}

@Suite struct `dispatch` {
    private let rules = DispatchRules(
        routing: Routing(routes: [
            Route(when: [.failed, .completed], to: ["hook", "desk"]),
            Route(when: [.message, .failed], to: ["pager", "desk"]),
        ]),
        channels: [
            DispatchRules.Channel("desk", isLevel: true), DispatchRules.Channel("hook", isLevel: false),
            DispatchRules.Channel("pager", isLevel: false),
        ])
    private let run = Fact.Run(job: "backup", id: "r1", bot: "ops")
    private let noon = Moment(seconds: 43_200)

    /// The verdicts as `channel:action stage reason`.
    private func decide(
        _ matter: Matter, at now: Moment? = nil, by dispatcher: Dispatcher = Dispatcher()
    ) -> [String] {
        dispatcher.dispatch(matter, by: rules, at: now ?? noon).map { verdict in
            let action =
                switch verdict.action {
                case .send(let dispatch): "send \(dispatch.reason)\(dispatch.takesPlace ? " joined" : "")"
                case .hold(let dispatch, let until, let reason):
                    "hold \(dispatch.type) \(until.seconds) \(reason.rawValue)"
                case .suppress(let reason): "suppress \(reason.rawValue)"
                }
            return "\(verdict.channel):\(action) \(verdict.stage.rawValue)"
        }
    }

    @Test func `holds nothing of how far a run is: later it is no news`() {
        var rules = DispatchRules(
            routing: Routing(routes: [Route(when: [.progress, .failed], to: ["hook"])]),
            channels: [DispatchRules.Channel("hook", isLevel: false)])
        rules.restraints["ops"] = Restraint()
        rules.restraints["ops"]?.budget = 1
        var progress = Matter(.runProgress(run))
        progress.interruptions.note(on: "hook", "ops", at: noon, budget: 1)
        func decide(_ dispatcher: Dispatcher) -> [Verdict.Action] {
            dispatcher.dispatch(progress, by: rules, at: noon).map(\.action)
        }
        #expect(decide(Dispatcher()) == [.send(Dispatch(type: "run.progress", reason: "progress"))])
        #expect(decide(Dispatcher(adding: [Siesta(channel: "hook")])) == [.suppress(.quietHours)])
    }

    private func version(_ reason: RingReason, isDismissed: Bool = false, message: Bool = false) -> Matter {
        let fact = JobFact(run: 1, state: .failed, at: noon)
        let report = JobReport(job: "backup", news: .failed, fact: fact, sameFailures: 1, failures: 1)
        return Matter(
            ItemSnapshot(
                key: message ? .thread(bot: "ops", thread: "main") : .job("backup"), revision: 2, bot: "ops",
                urgency: .normal, reason: reason, at: noon, isDismissed: isDismissed,
                content: message ? .messages(count: 1, last: []) : .job(report)), only: nil)
    }

    @Test func `sends an event to each channel that a route names, and to no other`() {
        let failed = Fact.runFailed(Fact.End(run, reason: .exitCode))
        #expect(
            decide(Matter(failed)) == [
                "desk:send exitCode route", "hook:send exitCode route", "pager:send exitCode route",
            ])
        #expect(
            decide(Matter(.runCompleted(Fact.End(run)))) == [
                "desk:send completed route", "hook:send completed route",
            ])
        #expect(decide(Matter(.runStarted(run))).isEmpty)
        let trouble = Fact.channelFailing(Fact.Channel("hook", reason: .timeout))
        #expect(
            decide(Matter(trouble)) == ["desk:send timeout route", "pager:send timeout route"])
        var test = Matter(.test(channel: "pager"))
        test.only = ["pager"]
        #expect(decide(test) == ["pager:send asked route"])
    }

    @Test func `respects the options of belfry exec`() {
        func ended(_ fact: Fact, _ wish: NotifyWish) -> [String] {
            var matter = Matter(fact)
            (matter.wish, matter.isEnd) = (wish, true)
            return decide(matter)
        }
        let (completed, failed) = (Fact.runCompleted(Fact.End(run)), Fact.runFailed(Fact.End(run)))
        #expect(
            ended(completed, .always) == [
                "desk:send completed route", "hook:send completed route", "pager:send completed route",
            ])
        #expect(
            ended(completed, .failure) == ["desk:suppress notWished wish", "hook:suppress notWished wish"])
        #expect(ended(failed, .failure).count == 3)
        #expect(ended(failed, .never).allSatisfy { $0.hasSuffix("suppress notWished wish") })
    }

    @Test func `shows an item where items are edited in place, unless a person put it away`() {
        #expect(decide(version(.failed)) == ["desk:send failed route"])
        #expect(decide(version(.sameFailure, isDismissed: true)) == ["desk:suppress dismissed dismissal"])
    }

    @Test func `joins messages to what waits where they are sent, and forgets what was read`() {
        #expect(
            decide(version(.first, message: true)) == [
                "desk:send first route", "pager:send first joined route",
            ])
        let read = Matter(readBeforeShown: .thread(bot: "ops", thread: "main"), only: nil)
        #expect(decide(read) == ["desk:suppress read dismissal", "pager:suppress read dismissal"])
    }

    @Test func `takes one more stage at its place in the order, for its channel only`() {
        let dispatcher = Dispatcher(adding: [Siesta(channel: "desk")])
        let failed = Matter(.runFailed(Fact.End(run, reason: .exitCode)))
        #expect(
            decide(failed, by: dispatcher) == [
                "desk:hold run.failed 72000 quietHours quietHours", "hook:send exitCode route",
                "pager:send exitCode route",
            ])
        #expect(
            decide(failed, at: Moment(seconds: 72_000), by: dispatcher).first == "desk:send exitCode route")
        // What a person put away is not news in the evening either: dismissal comes first.
        let dismissed = decide(version(.sameFailure, isDismissed: true), by: dispatcher)
        #expect(dismissed == ["desk:suppress dismissed dismissal"])
    }
}
