import Delivery
import Grouping
import Testing
import Timeline
import Tracking

@Suite struct `the notice of a storm` {
    private let noon = Moment(seconds: 43_200)

    /// What is shown of jobs that fail two seconds apart, of which some recover then, or leave.
    private func notice(
        _ count: Int, recovered: Int = 0, left: Int = 0, labels: [String: String] = [:],
        state: RunState = .failed
    ) throws -> Notice {
        var item = StormItem(number: 1)
        var shown: ItemSnapshot?
        var now = noon
        func note(_ actions: [ItemAction]) {
            for case .flush(let snapshot) in actions { shown = snapshot }
            now = now + .seconds(2)
        }
        for number in 1...count {
            let fact = JobFact(run: 1, state: state, text: "no route to host", at: now)
            note(item.fail("job-\(number)", fact, labels: labels, at: now))
        }
        for number in 1...count where number <= recovered {
            note(item.end("job-\(number)", isWell: true, at: now))
        }
        for number in 1...count where number <= left {
            note(item.end("job-\(number)", isWell: false, at: now))
        }
        return NoticeComposer.compose(try #require(shown))
    }

    @Test func `names how many jobs failed, the label that they share, the text, and the jobs`() throws {
        let notice = try notice(12, labels: ["host": "db1", "team": "web"])
        #expect(notice.title == "12 jobs failed on host db1")
        #expect(
            notice.body == """
                no route to host
                job-1, job-2, job-3, job-4, job-5, job-6, job-7, job-8 and 4 more
                """)
        #expect(notice.urgency == .critical && !notice.ring && notice.category == "x-belfry.job.failed")
    }

    @Test func `names those that still fail, and at last that all recovered`() throws {
        let some = try notice(4, recovered: 1)
        #expect(some.title == "3 of 4 jobs still fail" && some.body.hasSuffix("\njob-2, job-3, job-4"))
        let all = try notice(3, recovered: 3, labels: ["host": "db1"])
        #expect(all.title == "3 jobs recovered on host db1" && all.body == "job-1, job-2, job-3")
        #expect(all.ring && all.urgency == .normal && all.category == "x-belfry.job.recovered")
        #expect(try notice(3, state: .lost).title == "3 jobs were lost")
    }

    @Test func `names a single job in the singular`() throws {
        let host = ["host": "db1"]
        #expect(try notice(3, left: 2, labels: host).title == "1 job failed on host db1")
        #expect(try notice(3, left: 2, state: .lost).title == "1 job was lost")
        #expect(try notice(3, recovered: 2).title == "1 of 3 jobs still fails")
    }

    @Test func `takes the place of the jobs' own where items are edited in place, and nowhere else`() {
        let rules = DispatchRules(
            routing: Routing(routes: [Route(when: [.failed], to: ["desk", "hook"])]),
            channels: [
                DispatchRules.Channel("desk", isLevel: true), DispatchRules.Channel("hook", isLevel: false),
            ])
        let fact = JobFact(run: 1, state: .failed, at: noon)
        var matter = Matter(
            ItemSnapshot(
                key: .job("a"), revision: 1, bot: "ops", urgency: .normal, reason: .failed, at: noon,
                content: .job(JobReport(job: "a", news: .failed, fact: fact))), only: nil)
        matter.isListed = true
        let verdicts = Dispatcher().dispatch(matter, by: rules, at: noon)
        #expect(verdicts == [Verdict(channel: "desk", stage: .storm, action: .suppress(.listed))])
        let event = Matter(.runFailed(Fact.End(Fact.Run(job: "a", id: "r", bot: "ops"))))
        #expect(Dispatcher().dispatch(event, by: rules, at: noon).map(\.channel) == ["desk", "hook"])
    }
}
