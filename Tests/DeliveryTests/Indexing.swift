import Grouping
import TestSupport
import Testing
import Timeline

@testable import Delivery

@Suite struct `rules found by what they match` {
    private let now = Moment(seconds: 1_000)

    /// As if there was no index.
    private func expected(_ routes: [Route], _ matter: Matter) -> [String] {
        var names: [String] = []
        for route in routes where route.when.contains(.failed) {
            guard route.about.allSatisfy({ $0.matches(matter, on: "") }) else { continue }
            for name in route.to where !names.contains(name) { names.append(name) }
        }
        return names
    }

    @Test func `are those that hold, in the order in which they were written`() throws {
        var numbers = SeededGenerator(seed: 7)
        let texts = [
            "job=a", "job=b", "bot=ops", "bot=pro", "tier=gold", "job!=a", "job=~a|b", "urgency=critical",
        ]
        for _ in 0..<300 {
            var routes: [Route] = []
            for number in 0..<Int.random(in: 1...12, using: &numbers) {
                var route = Route(when: [.failed], to: ["c\(number % 5)"])
                for _ in 0..<Int.random(in: 0...2, using: &numbers) {
                    route.about.append(try Matcher(try #require(texts.randomElement(using: &numbers))))
                }
                routes.append(route)
            }
            var matter = Matter(.runFailed(Fact.End(Fact.Run(job: "a", id: "1", bot: "ops"))))
            matter.topic.job = [nil, "a", "b"].randomElement(using: &numbers) ?? nil
            matter.topic.bot = [nil, "ops", "pro"].randomElement(using: &numbers) ?? nil
            if Bool.random(using: &numbers) { matter.topic.labels = ["tier": "gold"] }
            let routing = Routing(routes: routes)
            #expect(routing.channels(for: matter, at: now) == expected(routes, matter))
        }
    }

    @Test func `name of silences the one that ends last, and of those that end together the oldest`() throws {
        func silence(_ id: String, _ matcher: String, until seconds: Int64) throws -> Silence {
            try Silence(
                id: id, matchers: [try Matcher(matcher)], from: Moment(seconds: 0),
                until: Moment(seconds: seconds), by: "test")
        }
        let silences = Silences([
            try silence("1", "bot=ops", until: 2_000), try silence("2", "job=a", until: 3_000),
            try silence("3", "tier=gold", until: 3_000), try silence("4", "job=b", until: 9_000),
            try silence("5", "job=a", until: 900),
        ])
        let topic = Topic(job: "a", bot: "ops", labels: ["tier": "gold"])
        func last(_ topic: Topic) -> String? {
            silences.last(for: topic, on: "desk", event: "failed", at: now)?.id
        }
        #expect(last(topic) == "2")
        #expect(last(Topic(job: "x", bot: "ops")) == "1")
        #expect(last(Topic(job: "b")) == "4")
        #expect(last(Topic(job: "x")) == nil)
    }
}

@Suite struct `what is held and judged again` {
    private let now = Moment(seconds: 36_000)

    private func review(
        _ reason: DispatchReason = .quietHours, on audience: Audience = .people, isWanted: Bool = false,
        deadline: Moment? = nil,
        _ change: (inout DispatchRules) throws -> Void = { _ in }
    ) throws -> HeldMatter.Review {
        let channel = DispatchRules.Channel("phone", isLevel: false, audience: audience)
        var rules = DispatchRules(
            routing: Routing(routes: [Route(when: [.failed], to: ["phone"])]), channels: [channel])
        var restraint = Restraint()
        (restraint.quiet, restraint.budget) = (try DailyHours(["09:00-12:00"], in: .utc), 1)
        rules.restraints["ops"] = restraint
        try change(&rules)
        var interruptions = Interruptions()
        interruptions.note(on: "phone", "ops", at: now - .seconds(60), budget: 1)
        var held = HeldMatter(
            reason: reason, event: 1, topic: Topic(job: "a", bot: "ops"), line: "a failed", relevance: 2)
        held.deadline = deadline
        return held.review(
            type: "run.failed", for: channel, by: rules, interruptions, isWanted: isWanted, at: now)
    }

    @Test func `goes on being held by the first rule that holds it`() throws {
        #expect(try review() == .hold(until: Moment(seconds: 43_200), .quietHours))
        #expect(
            try review { $0.restraints["ops"]?.quiet = nil }
                == .hold(until: now - .seconds(60) + .seconds(3600), .overBudget))
        #expect(try review { $0.restraints["ops"] = Restraint() } == .release)
        #expect(try review(isWanted: true) == .release)
        #expect(try review(on: .pagers) == .release)
    }

    @Test func `is not held beyond the end of a question`() throws {
        #expect(try review(deadline: now + .seconds(60)) == .release)
        #expect(
            try review(deadline: Moment(seconds: 43_200))
                == .hold(until: now - .seconds(60) + .seconds(3600), .overBudget))
        #expect(
            try review(deadline: Moment(seconds: 43_201))
                == .hold(until: Moment(seconds: 43_200), .quietHours))
    }

    @Test func `is not sent where it was silenced or switched off meanwhile`() throws {
        let until = Moment(seconds: 50_000)
        let silence = try Silence(
            id: "12345678", matchers: [try Matcher("job=a")], from: Moment(seconds: 0), until: until,
            by: "test")
        #expect(
            try review(isWanted: true) { $0.silences = [silence] }
                == .suppress(.silence, .silenced, until: until, rule: silence.rule))
        #expect(
            try review { $0.restraints["ops"]?.isShown = false } == .suppress(.shown, .switchedOff))
    }
}
