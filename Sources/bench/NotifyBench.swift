import Delivery
import Grouping
import Timeline
import Tracking

/// What deciding about notifications costs, without a ledger: dispatch of a fact, and grouping of messages.
///
/// Then how long a thousand messages of one thread take to become one notice, through the whole daemon.
enum NotifyBench {
    private static let rounds = 20_000

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) async throws {
        let (rules, fact) = (try rules(), failure(of: "job-7"))
        let dispatcher = Dispatcher()
        let clock = ContinuousClock()
        var (best, sent) = (Double.infinity, 0)
        for _ in 0..<5 {
            sent = 0
            let took = clock.measure {
                for round in 0..<rounds {
                    let verdicts = dispatcher.dispatch(
                        Matter(fact), by: rules, at: Moment(seconds: 1_000) + .milliseconds(round))
                    sent += verdicts.count
                }
            }
            best = min(best, Double(took.microseconds) / Double(rounds))
        }
        print("notify: 50 routes, 20 silences, \(sent / rounds) verdicts a fact")
        report("dispatch of a fact", "\(best.short) us", limit: "5 us", isKept: best <= 5)
        let rate = grouped()
        report(
            "messages grouped a second", "\(Int(rate / 1000)) thousand", limit: "1 million",
            isKept: rate >= 1_000_000)
        try await WaitBench.run()
    }

    /// Fifty routes, most of one job or one bot, and twenty silences of other jobs.
    static func rules() throws -> DispatchRules {
        var routes = [Route(when: [.failed, .recovered], to: ["desk", "hook"])]
        for number in 1..<50 {
            var route = Route(when: [.failed, .lost, .message], to: [number % 2 == 0 ? "hook" : "phone"])
            let text =
                number % 3 == 0 ? "bot=bot-\(number)" : number % 3 == 1 ? "job=job-\(number)" : "tier=gold"
            route.about = [try Matcher(text), try Matcher("urgency!=low")]
            routes.append(route)
        }
        var rules = DispatchRules(
            routing: Routing(routes: routes),
            channels: [
                DispatchRules.Channel("desk", isLevel: true), DispatchRules.Channel("hook", isLevel: false),
                DispatchRules.Channel("phone", isLevel: false, audience: .people),
            ])
        rules.silences = try (0..<20).map { number in
            try Silence(
                id: "silence-\(number)",
                matchers: [try Matcher(number % 4 == 0 ? "host=db\(number)" : "job=other-\(number)")],
                from: Moment(seconds: 0), until: Moment(seconds: 1_000_000), by: "bench")
        }
        return rules
    }

    private static func failure(of job: String) -> Fact {
        .runFailed(
            Fact.End(
                Fact.Run(job: job, id: "0199a000-0000-7000-8000-000000000001", bot: "ops"),
                reason: .exitCode))
    }

    /// Messages a second through the items of 100 threads.
    private static func grouped() -> Double {
        let count = 200_000
        var threads = (0..<100).map { ThreadItem(bot: "ops", thread: "thread-\($0)") }
        let messages = (0..<100).map {
            Message(
                id: "m\($0)", bot: "ops", thread: "thread-\($0)", text: "Disk \($0) is full",
                at: Moment(seconds: 1_000))
        }
        let policy = ThreadPolicy()
        var (best, actions) = (0.0, 0)
        for _ in 0..<3 {
            let watch = Stopwatch()
            for index in 0..<count {
                let now = Moment(seconds: 1_000) + .microseconds(Int64(index))
                actions += threads[index % 100].receive(messages[index % 100], at: now, policy: policy).count
            }
            best = max(best, Double(count) / watch.seconds)
        }
        return actions < 0 ? 0 : best
    }
}
