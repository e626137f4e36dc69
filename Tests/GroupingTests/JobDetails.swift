import Grouping
import Testing
import Timeline
import Tracking

private let start = Moment(seconds: 1_700_000_000)
private let policy = JobPolicy(hears: Set(JobNews.allCases), interval: .zero)

private func report(_ actions: [ItemAction]) -> JobReport? {
    for case .flush(let item) in actions {
        if case .job(let report) = item.content { return report }
    }
    return nil
}

@Suite struct `a recovery` {
    @Test func `measures the outage from the end of the first failure`() throws {
        var item = JobItem(job: "backup", bot: "ops")
        for (run, minutes) in [(1, 10), (2, 40)] {
            let at = start + .seconds(60 * minutes)
            _ = item.receive(JobFact(run: run, state: .timedOut, at: at), at: at, policy: policy)
        }
        let end = start + .seconds(60 * 195)
        let last = item.receive(JobFact(run: 3, state: .completed, at: end), at: end, policy: policy)
        let recovery = try #require(report(last))
        #expect(recovery.news == .recovered)
        #expect(recovery.outage == .seconds(60 * 185))
        #expect(recovery.failures == 2)
        #expect(recovery.job == "backup" && recovery.fact.run == 3)
        #expect(item.failures == 0)
    }

    @Test func `never has a negative length when the clock was set back`() throws {
        var item = JobItem(job: "backup", bot: "ops")
        _ = item.receive(JobFact(run: 1, state: .lost, at: start), at: start, policy: policy)
        let earlier = start - .seconds(3600)
        let last = item.receive(JobFact(run: 2, state: .completed, at: earlier), at: earlier, policy: policy)
        #expect(report(last)?.outage == .zero)
    }
}

@Suite struct `the urgency of a job` {
    /// The urgency and the reason of what a run in this state comes to, for a job with an urgency of its own.
    private func shown(_ state: RunState, _ own: Urgency?, after failure: Bool = false) -> ItemSnapshot? {
        var item = JobItem(job: "backup", bot: "ops")
        if failure {
            _ = item.receive(JobFact(run: 1, state: .failed, at: start), at: start, policy: policy)
        }
        var fact = JobFact(run: 2, state: state, at: start)
        fact.urgency = own
        for case .flush(let item) in item.receive(fact, at: start, policy: policy) { return item }
        return nil
    }

    @Test(arguments: [
        (RunState.failed, Urgency.critical), (.timedOut, .critical), (.lost, .critical),
        (.completed, .normal),
        (.missed, .normal), (.canceled, .normal), (.blocked, .normal), (.running, .low),
    ])
    func `is critical for failures alone`(_ state: RunState, _ urgency: Urgency) {
        #expect(shown(state, nil)?.urgency == urgency)
        #expect(shown(state, .critical)?.urgency == urgency)
    }

    @Test func `is that of a recovery when it is over`() {
        #expect(shown(.completed, nil, after: true)?.urgency == .normal)
    }

    @Test(arguments: [RunState.failed, .lost, .completed, .missed])
    func `that is normal is never exceeded`(_ state: RunState) {
        #expect(shown(state, .normal)?.urgency == .normal)
        #expect(shown(state, .normal)?.reason.rings == true)
    }

    @Test(arguments: [RunState.failed, .lost, .completed, .missed])
    func `that is low never rings`(_ state: RunState) {
        #expect(shown(state, .low)?.urgency == .low)
        #expect(shown(state, .low)?.reason == .lowUrgency)
    }
}

@Suite struct `two failures` {
    private func isSame(_ one: String, _ other: String) -> Bool {
        FailureSignature(JobFact(run: 1, state: .failed, text: one, at: start))
            == FailureSignature(JobFact(run: 2, state: .failed, text: other, at: start))
    }

    @Test(arguments: [
        ("timeout after 31 s", "timeout after 7 s"),
        ("2026-03-29T03:00:00+02:00 disk full", "2026-03-30T03:00:00+02:00 disk full"),
        ("no such file: /tmp/belfry.x7Qa2/in", "no such file: /tmp/belfry.p9Zb1/in"),
        ("object 5f0c1d2e missing", "object 99ab0000 missing"),
    ])
    func `are the same when only numbers differ`(_ one: String, _ other: String) {
        #expect(isSame(one, other))
    }

    @Test(arguments: [
        ("disk full", "no such host"), ("disk full", ""), ("disk 1 full", "disk full"),
    ])
    func `are two when the words differ`(_ one: String, _ other: String) {
        #expect(!isSame(one, other))
    }

    @Test func `are two when they ended differently`() {
        let exit = JobFact(run: 1, state: .failed, reason: .exitCode, exitCode: 1, at: start)
        var other = exit
        other.exitCode = 2
        var late = exit
        late.state = .timedOut
        #expect(Set([exit, other, late].map(FailureSignature.init)).count == 3)
    }
}

@Suite struct `progress that is put away` {
    private func progress(_ part: Double, run: Int = 1) -> JobFact {
        JobFact(run: run, state: .running, progress: part, at: start)
    }

    @Test func `stays away though a silent version came in between`() {
        var item = JobItem(job: "backup", bot: "ops")
        for part in [0.1, 0.2, 0.3] { _ = item.receive(progress(part), at: start, policy: policy) }
        #expect(item.dismissed(revision: 1, at: start) == [.resolve(revision: 4)])
        #expect(item.receive(progress(0.4), at: start, policy: policy).isEmpty)
        #expect(item.isDismissed)
    }

    @Test func `comes back with what rang, or with another run, that came in between`() {
        for news in [JobFact(run: 1, state: .failed, at: start), progress(0.1, run: 2)] {
            var item = JobItem(job: "backup", bot: "ops")
            _ = item.receive(progress(0.1), at: start, policy: policy)
            _ = item.receive(news, at: start, policy: policy)
            _ = item.receive(progress(0.2, run: 2), at: start, policy: policy)
            #expect(item.dismissed(revision: 1, at: start).isEmpty)
            #expect(!item.isDismissed)
        }
    }
}

@Suite struct `progress that comes late` {
    @Test func `is ignored after the end of its run`() {
        var item = JobItem(job: "backup", bot: "ops")
        _ = item.receive(JobFact(run: 1, state: .running, at: start), at: start, policy: policy)
        _ = item.receive(JobFact(run: 1, state: .completed, at: start), at: start, policy: policy)
        let late = JobFact(run: 1, state: .running, progress: 0.9, at: start)
        #expect(item.receive(late, at: start, policy: policy).isEmpty)
    }

    @Test func `of an older run does not hide the newer one`() {
        var item = JobItem(job: "backup", bot: "ops")
        _ = item.receive(JobFact(run: 1, state: .running, at: start), at: start, policy: policy)
        _ = item.receive(JobFact(run: 2, state: .running, at: start), at: start, policy: policy)
        let old = JobFact(run: 1, state: .running, progress: 0.9, at: start)
        #expect(item.receive(old, at: start, policy: policy).isEmpty)
        #expect(item.report?.fact.run == 2)
    }

    @Test func `of a run that only waits makes no item`() {
        var item = JobItem(job: "backup", bot: "ops")
        let queued = JobFact(run: 1, state: .queued, at: start)
        #expect(item.receive(queued, at: start, policy: policy).isEmpty)
    }
}
