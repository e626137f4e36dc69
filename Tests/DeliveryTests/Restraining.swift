import Delivery
import Grouping
import Testing
import Timeline
import Tracking

/// What one channel is sent of one bot as time goes by, drawn: a letter is something that happens, each place is an hour
/// of the day, and below it stands what happens to it: `!` rings, `.` is shown without a sound, `h` is held, `x` is not
/// sent.
struct Diagram {
    var rules = DispatchRules(
        routing: Routing(routes: [Route(when: Set(RouteWord.allCases), to: ["desk"])]),
        channels: [DispatchRules.Channel("desk", isLevel: true)])
    /// Whether the channel edits in place.
    var isLevel = true
    /// What is shown already, of the items by their letters.
    var isShown: Set<Character> = []
    var minutesAPlace: Int64 = 60
    private let dispatcher = Dispatcher()

    /// The fates of what happens at each place.
    func fates(of happening: String) -> String {
        var rules = rules
        rules.channels = [DispatchRules.Channel("desk", isLevel: isLevel)]
        var interruptions = Interruptions()
        var fates = ""
        for (place, letter) in happening.enumerated() {
            guard letter != "-" else {
                fates.append("-")
                continue
            }
            let now = Moment(seconds: Int64(place) * 60 * minutesAPlace)
            var matter = matter(letter, at: now)
            matter.interruptions = interruptions
            if isShown.contains(letter) { matter.shownOn = ["desk"] }
            let verdict = dispatcher.dispatch(matter, by: rules, at: now).first
            switch verdict?.action {
            case .send(let dispatch):
                fates.append(dispatch.isSilent ? "." : "!")
                if !dispatch.isSilent {
                    let budget = rules.restraint(of: "ops").budget ?? 1
                    interruptions.note(on: "desk", "ops", at: now, budget: budget)
                }
            case .hold: fates.append("h")
            case .suppress: fates.append("x")
            case nil: fates.append(" ")
            }
        }
        return fates
    }

    /// `m` a message, `u` an urgent one, `f` a failure, `r` a recovery, `q` a question.
    private func matter(_ letter: Character, at now: Moment) -> Matter {
        func version(
            _ key: ItemKey, _ urgency: Urgency, _ content: ItemSnapshot.Content
        ) -> Matter {
            var matter = Matter(
                ItemSnapshot(
                    key: key, revision: 1, bot: "ops", urgency: urgency, reason: .first, at: now,
                    content: content), only: nil)
            if matter.topic.job != nil { matter.topic.labels = ["host": "db1"] }
            return matter
        }
        func job(_ state: RunState, _ news: JobNews) -> Matter {
            let report = JobReport(
                job: "backup", news: news, fact: JobFact(run: 1, state: state, at: now), sameFailures: 1,
                failures: 1)
            return version(.job("backup"), news == .failed ? .critical : .normal, .job(report))
        }
        let thread = ItemKey.thread(bot: "ops", thread: "main")
        switch letter {
        case "f": return job(.failed, .failed)
        case "r": return job(.completed, .recovered)
        case "u": return version(thread, .critical, .messages(count: 1, last: []))
        case "q":
            let question = Question(id: "q", bot: "ops", text: "?", choices: ["yes"], askedAt: now)
            return version(.question("q"), .normal, .question(question))
        default: return version(thread, .normal, .messages(count: 1, last: []))
        }
    }
}

@Suite struct `quiet hours` {
    private func diagram(_ texts: [String], isLevel: Bool = true) throws -> Diagram {
        var diagram = Diagram()
        var restraint = Restraint()
        restraint.quiet = try DailyHours(texts, in: .utc)
        diagram.rules.restraints["ops"] = restraint
        diagram.isLevel = isLevel
        return diagram
    }

    @Test(arguments: [true, false])
    func `hold what is not critical until their end`(isLevel: Bool) throws {
        let diagram = try diagram(["22:00-07:00"], isLevel: isLevel)
        let day = "mfmmmmmmmmmmmmmmmmmmmmmm" + "uq--m-qm"
        let expected = "h!hhhhh!!!!!!!!!!!!!!!hh" + "!h--h-h!"
        // What is sent once is no version of a job or of a question.
        let fates = zip(day, expected).map { !isLevel && "fq".contains($0) ? " " : $1 }
        #expect(diagram.fates(of: day) == String(fates))
    }

    @Test func `let what is on the screen go on without a sound`() throws {
        var diagram = try diagram(["00:00-06:00"])
        diagram.isShown = ["m"]
        #expect(diagram.fates(of: "mmqummmmm") == "..h!..!!!")
    }

    @Test func `end at the end of all that touch`() throws {
        let hours = try DailyHours(["22:00-02:00", "02:00-05:30", "Sat,Sun 05:00-09:00"], in: .utc)
        // 1970-01-01 was a Thursday.
        func end(_ day: Int64, _ hour: Int64) -> Int64? {
            let end = hours.end(at: Moment(seconds: day * 86_400 + hour * 3600))
            return end.map { ($0.seconds - day * 86_400) / 60 }
        }
        #expect(end(0, 23) == 1770)
        #expect(end(0, 1) == 330 && end(0, 6) == nil && end(0, 21) == nil)
        #expect(end(1, 23) == 1980, "Saturday")
        #expect(end(2, 8) == 540 && end(4, 8) == nil)
    }

    @Test func `follow the clocks of a zone through their changes`() throws {
        // Forward at 02:00 on the last Sunday of March, back at 03:00 on that of October.
        let zone = try ZoneRules(name: "Europe/Berlin", posix: "CET-1CEST,M3.5.0,M10.5.0/3")
        let hours = try DailyHours(["22:00-07:00"], in: zone)
        func length(_ evening: String) throws -> Duration {
            let start = try Moment(iso8601: evening)
            return try #require(hours.end(at: start)) - start
        }
        #expect(try length("2026-03-28T22:00:00+01:00") == .seconds(8 * 3600))
        #expect(try length("2026-10-24T22:00:00+02:00") == .seconds(10 * 3600))
        #expect(try length("2026-11-24T22:00:00+01:00") == .seconds(9 * 3600))
        #expect(!hours.contains(try Moment(iso8601: "2026-03-29T07:00:00+02:00")))
    }

    @Test func `are refused without a length, without an end, and in words nobody knows`() {
        func fault(_ texts: [String]) -> DailyHoursError? {
            do throws(DailyHoursError) { _ = try DailyHours(texts, in: .utc) } catch { return error }
            return nil
        }
        #expect(fault(["09:00-09:00"]) == .noLength("09:00-09:00"))
        #expect(fault(["00:00-24:00"]) == .endless)
        #expect(fault(["12:00-06:00", "05:00-13:00"]) == .endless)
        #expect(fault(["Mon-Fri 00:00-24:00"]) == nil)
        #expect(fault([]) == DailyHoursError.none)
        for text in ["25:00-07:00", "22:00", "22-7", "22:60-07:00", "Mon Tue 22:00-07:00", "24:00-07:00", ""]
        {
            #expect(fault([text]) == .notHours(text), "\(text)")
        }
        #expect(fault(["Mo-Fr 22:00-07:00"]) == .notDays("Mo-Fr 22:00-07:00"))
    }

    @Test func `ask what must be answered before their end`() throws {
        let diagram = try diagram(["00:00-06:00"])
        let question = { (deadline: Int64) -> Matter in
            var question = Question(
                id: "q", bot: "ops", text: "?", choices: ["yes"], askedAt: Moment(seconds: 0))
            question.deadline = Moment(seconds: deadline)
            return Matter(
                ItemSnapshot(
                    key: .question("q"), revision: 1, bot: "ops", urgency: .normal, reason: .first,
                    at: Moment(seconds: 0), content: .question(question)), only: nil)
        }
        func action(_ deadline: Int64) -> Verdict.Action? {
            Dispatcher().dispatch(question(deadline), by: diagram.rules, at: Moment(seconds: 60)).first?
                .action
        }
        guard case .send? = action(3600) else {
            Issue.record("it is asked at once")
            return
        }
        guard case .hold(_, let until, .quietHours)? = action(36_000) else {
            Issue.record("it can wait")
            return
        }
        #expect(until == Moment(seconds: 21_600))
    }
}

@Suite struct `a budget of interruptions` {
    private func diagram(_ budget: Int, minutes: Int64) -> Diagram {
        var diagram = Diagram()
        var restraint = Restraint()
        restraint.budget = budget
        diagram.rules.restraints["ops"] = restraint
        diagram.minutesAPlace = minutes
        return diagram
    }

    @Test func `holds what rings beyond it, and lets what is critical through`() {
        //                                         0    10   20
        #expect(diagram(2, minutes: 10).fates(of: "mmmmmmmm") == "!!hhhh!!")
        #expect(diagram(2, minutes: 10).fates(of: "mmumfmm-m") == "!!!h!hh-!")
        #expect(diagram(3, minutes: 30).fates(of: "mmmmmm") == "!!!!!!")
        var shown = diagram(1, minutes: 10)
        shown.isShown = ["m"]
        #expect(shown.fates(of: "mmm") == "!..")
    }

    @Test func `is never exceeded, whatever comes`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let budget = Int.random(in: 1...5, using: &numbers)
            let minutes = Int64.random(in: 1...20, using: &numbers)
            let happening = String((0..<60).map { _ in "-mmmq".randomElement(using: &numbers) ?? "-" })
            let fates = diagram(budget, minutes: minutes).fates(of: happening)
            let rings = fates.enumerated().filter { $0.element == "!" }.map { Int64($0.offset) * minutes }
            for (index, ring) in rings.enumerated() {
                let within = rings[...index].filter { $0 > ring - 60 }
                #expect(within.count <= budget, "\(happening) \(fates)")
            }
            #expect(!fates.contains("x") && !fates.contains(" "), "nothing is dropped")
        }
    }

    @Test func `survives a clock that goes back`() {
        var interruptions = Interruptions()
        interruptions.note(on: "desk", "ops", at: Moment(seconds: 100_000), budget: 1)
        var matter = Matter(.runCompleted(Fact.End(Fact.Run(job: "backup", id: "r1", bot: "ops"))))
        matter.interruptions = interruptions
        var rules = Diagram().rules
        var restraint = Restraint()
        restraint.budget = 1
        rules.restraints["ops"] = restraint
        guard case .send? = Dispatcher().dispatch(matter, by: rules, at: Moment(seconds: 50)).first?.action
        else {
            Issue.record("a ring of the future holds nothing")
            return
        }
    }
}

@Suite struct `a silence` {
    private func silence(_ texts: [String], from: Int64 = 0, until: Int64 = 10) throws -> Silence {
        try Silence(
            id: "0199c2b0-0000-7000-8000-00000000abcd", matchers: texts.map { try Matcher($0) },
            from: Moment(seconds: from * 3600), until: Moment(seconds: until * 3600), by: "desk")
    }

    @Test func `holds what matches while it lasts, also when it was made before`() throws {
        var diagram = Diagram()
        diagram.rules.silences = [try silence(["job=backup"], from: 2, until: 5)]
        #expect(diagram.fates(of: "fffffff") == "!!hhh!!")
        #expect(diagram.fates(of: "mmmmmmm") == "!!!!!!!")
        diagram.isShown = ["f"]
        #expect(diagram.fates(of: "fffffff") == "!!...!!")
        diagram.rules.silences.append(try silence(["urgency!=critical"], from: 4, until: 6))
        #expect(diagram.fates(of: "mumumumu") == "!!!!h!!!")
    }

    @Test func `is not sent where each thing is sent once, and a recovery follows its failure`() throws {
        var rules = Diagram().rules
        rules = DispatchRules(
            routing: Routing(routes: [Route(when: Set(RouteWord.allCases), to: ["hook"])]),
            channels: [DispatchRules.Channel("hook", isLevel: false)])
        rules.silences = [try silence(["host=db1"])]
        let run = Fact.Run(job: "backup", id: "r1", bot: "ops")
        func verdict(_ fact: Fact) -> Verdict? {
            var matter = Matter(fact)
            matter.topic.labels = ["host": "db1"]
            return Dispatcher().dispatch(matter, by: rules, at: Moment(seconds: 60)).first
        }
        let failed = verdict(.runFailed(Fact.End(run, reason: .exitCode)))
        #expect(failed?.action == .suppress(.silenced) && failed?.stage == .silence)
        #expect(failed?.rule == "silence 0000abcd" && failed?.until == Moment(seconds: 36_000))
        let recovered = verdict(.runRecovered(Fact.Recovery(run, outage: .seconds(60), channels: ["hook"])))
        guard case .send? = recovered?.action else {
            Issue.record("\(recovered as Any)")
            return
        }
        guard case .send? = verdict(.test(channel: nil))?.action else {
            Issue.record("a test is what its asker waits for")
            return
        }
    }

    @Test func `is refused without a matcher, and where it matches everything`() {
        func fault(_ texts: [String]) -> MatcherError? {
            do throws(MatcherError) {
                var matchers: [Matcher] = []
                for text in texts { matchers.append(try Matcher(text)) }
                let (start, end) = (Moment(seconds: 0), Moment(seconds: 1))
                _ = try Silence(id: "a", matchers: matchers, from: start, until: end, by: "me")
            } catch { return error }
            return nil
        }
        #expect(fault([]) == MatcherError.none)
        #expect(fault(["job=~.*"]) == .everything && fault(["host!=db1"]) == .everything)
        #expect(fault(["job=~\".*\"", "host=db1"]) == nil)
        #expect(fault(["job"]) == .noComparison("job") && fault(["a b=c"]) == .badKey("a b"))
        #expect(
            fault(["urgency=high"])
                == .unknownWord("high", of: "urgency", known: Urgency.allCases.map(\.rawValue)))
        guard case .badPattern? = fault(["job=~("]) else {
            Issue.record("an open bracket")
            return
        }
    }

    /// Alertmanager's rules: what is missing equals the empty text, and a pattern is anchored.
    @Test(arguments: [
        ("job=backup", true), ("job=back", false), ("job=~back", false), ("job=~back.*", true),
        ("job=~web|backup", true), ("job!~web", true), ("job!=backup", false), ("host=db1", true),
        ("rack=", true), ("rack!=", false), ("rack=~.*", true), ("bot=ops", true), ("channel=desk", true),
        ("event=failed", true), ("event=completed", false), ("urgency=critical", true),
        ("host=\"db1\"", true),
    ])
    func `matches by`(text: String, isMatch: Bool) throws {
        var matter = Matter(.runFailed(Fact.End(Fact.Run(job: "backup", id: "r1", bot: "ops"))))
        matter.topic.labels = ["host": "db1"]
        let matcher = try Matcher(text)
        #expect(matcher.matches(matter, on: "desk") == isMatch)
        #expect(try Matcher(matcher.text) == matcher, "its text form is read again")
    }
}

@Suite struct `an inhibition` {
    private func rules(equal: [String] = ["host"]) throws -> DispatchRules {
        var rules = Diagram().rules
        rules.inhibitions = [
            Inhibition(
                failing: [try Matcher("job=~ping-.*")], silences: [try Matcher("event=failed")], equal: equal)
        ]
        return rules
    }

    private func fate(
        _ job: String, host: String?, while failing: [Topic], by rules: DispatchRules
    ) -> Verdict? {
        var matter = Matter(.runFailed(Fact.End(Fact.Run(job: job, id: "r1", bot: "ops"))))
        matter.topic.labels = host.map { ["host": $0] } ?? [:]
        matter.failingJobs = failing
        return Dispatcher().dispatch(matter, by: rules, at: Moment(seconds: 0)).first
    }

    /// The cases that Alertmanager documents for inhibit_rules.
    @Test func `keeps quiet what the failure of its host explains, and nothing else`() throws {
        let rules = try rules()
        let down = Topic(job: "ping-db1", bot: "ops", labels: ["host": "db1"], urgency: .critical)
        let explained = fate("backup", host: "db1", while: [down], by: rules)
        #expect(explained?.action == .suppress(.inhibited) && explained?.rule == "ping-db1 fails")
        func isSent(_ verdict: Verdict?) -> Bool { if case .send? = verdict?.action { true } else { false } }
        #expect(isSent(fate("backup", host: "db2", while: [down], by: rules)), "another host")
        #expect(isSent(fate("backup", host: "db1", while: [], by: rules)), "it works")
        #expect(isSent(fate("backup", host: nil, while: [down], by: rules)), "a label that only one has")
        #expect(isSent(fate("ping-db1", host: "db1", while: [down], by: rules)), "nothing explains itself")
        let second = Topic(job: "ping-db1b", bot: "ops", labels: ["host": "db1"], urgency: .critical)
        #expect(isSent(fate("ping-db1", host: "db1", while: [second], by: rules)), "both are causes")
        let bare = Topic(job: "ping-x", bot: "ops", urgency: .critical)
        #expect(
            fate("backup", host: nil, while: [bare], by: rules)?.action == .suppress(.inhibited),
            "a label that neither has is equal")
    }
}

@Suite struct `routes with conditions` {
    private func route(_ texts: [String], during: String? = nil, to: String) throws -> Route {
        var route = Route(when: [.failed], to: [to])
        route.about = try texts.map { try Matcher($0) }
        route.during = try during.map { try DailyHours([$0], in: .utc) }
        return route
    }

    @Test func `lead where all of them hold, and say so where they do not`() throws {
        let rules = DispatchRules(
            routing: Routing(routes: [
                Route(when: [.failed], to: ["desk"]),
                try route(["host=db1", "urgency=critical"], during: "18:00-08:00", to: "phone"),
            ]),
            channels: [
                DispatchRules.Channel("desk", isLevel: false), DispatchRules.Channel("phone", isLevel: false),
            ])
        func fates(_ host: String, at hour: Int64) -> [String] {
            var matter = Matter(.runFailed(Fact.End(Fact.Run(job: "backup", id: "r1", bot: "ops"))))
            matter.topic.labels = ["host": host]
            return Dispatcher().dispatch(matter, by: rules, at: Moment(seconds: hour * 3600)).map { verdict in
                if case .suppress(let reason) = verdict.action { return "\(verdict.channel) \(reason)" }
                return verdict.channel
            }
        }
        #expect(fates("db1", at: 20) == ["desk", "phone"])
        #expect(fates("db1", at: 12) == ["desk", "phone otherConditions"])
        #expect(fates("db2", at: 20) == ["desk", "phone otherConditions"])
    }

    @Test func `are no default`() throws {
        let only = Routing(routes: [try route(["job=backup"], to: "desk")])
        #expect(only.problems(channels: ["desk"]) == [.failureUnderConditions])
        let both = Routing(routes: only.routes + [Route(when: [.failed], to: ["desk"])])
        #expect(both.problems(channels: ["desk"]).isEmpty)
    }
}

@Suite struct `failures before they count` {
    @Test func `notify nobody until there are enough in a row`() {
        var rules = Diagram().rules
        var restraint = Restraint()
        restraint.alertAfter = 2
        rules.restraints["ops"] = restraint
        func fate(_ failures: Int, of job: Int? = nil) -> Verdict.Action? {
            var matter = Matter(.runFailed(Fact.End(Fact.Run(job: "backup", id: "r1", bot: "ops"))))
            (matter.failures, matter.alertAfter) = (failures, job)
            return Dispatcher().dispatch(matter, by: rules, at: Moment(seconds: 0)).first?.action
        }
        #expect(fate(1) == .suppress(.fewFailures))
        #expect(fate(2) != .suppress(.fewFailures) && fate(1, of: 1) != .suppress(.fewFailures))
        #expect(fate(2, of: 3) == .suppress(.fewFailures), "the job's own number wins")
    }

    @Test func `and a bot that is switched off only asks questions`() {
        var diagram = Diagram()
        var restraint = Restraint()
        restraint.isShown = false
        diagram.rules.restraints["ops"] = restraint
        #expect(diagram.fates(of: "mufrq") == "xxxx!")
    }
}
