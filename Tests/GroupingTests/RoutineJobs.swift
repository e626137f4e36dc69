import Grouping
import Testing
import Timeline
import Tracking

/// Draws a job whose successes are routine: it is shown at work after two seconds, four steps of half a second.
///
/// In: `s` begins the next run, a digit is its progress in tenths, `c` completes it as a routine, `k` cancels it, `f`
/// fails it, `^` puts away the newest version. Out: `s`, digits, `ok`, `k`, `f1` as in `Jobs.swift`.
private func expect(
    in input: String, out: String, workAfter: Duration = .seconds(2),
    at location: SourceLocation = #_sourceLocation
) throws {
    let loud = Set(JobNews.allCases).subtracting([.completed, .canceled])
    var policy = JobPolicy(hears: loud, interval: .zero)
    (policy.follows, policy.workAfter) = ([.completed, .canceled], workAfter)
    var run = 0
    let marbles = Marbles<JobItem>(
        step: .milliseconds(500),
        feed: { item, character, now in
            if character == "^" { return item.dismissed(revision: item.revision, at: now) }
            if character == "s" { run += 1 }
            return item.receive(fact(character, of: run, now), at: now, policy: policy)
        },
        wake: { $0.wake(at: $1, policy: policy) }, flushAt: \.flushAt, draw: draw)
    #expect(try marbles.run(JobItem(job: "backup", bot: "ops"), in: input) == out, sourceLocation: location)
}

private func fact(_ character: Character, of run: Int, _ now: Moment) -> JobFact {
    switch character {
    case "c": JobFact(run: run, state: .completed, at: now)
    case "k": JobFact(run: run, state: .canceled, at: now)
    case "f": JobFact(run: run, state: .failed, exitCode: 1, at: now)
    case "b": JobFact(run: run, state: .blocked, at: now)
    default:
        JobFact(
            run: run, state: .running, progress: character.wholeNumberValue.map { Double($0) / 10 }, at: now)
    }
}

private func draw(_ item: ItemSnapshot) -> String {
    guard case .job(let report) = item.content else { return "?" }
    return switch report.news {
    case .progress: report.fact.progress.map { "\(Int($0 * 10))" } ?? "?"
    case .completed: "ok"
    case .canceled: "k"
    case .failed: "f\(report.sameFailures)"
    case .recovered: "up\(report.failures)"
    default: "\(report.news.rawValue.prefix(1))"
    }
}

@Suite struct `a job whose successes are routine` {
    @Test func `is not shown for a short run that ends well`() throws {
        try expect(in: "s12c--------s-c", out: "")
    }

    @Test func `shows a run that lasts, as it is by then`() throws {
        try expect(in: "s12-------", out: "----(2)")
        try expect(in: "s---------", out: "----(s)")
        try expect(in: "s-----5", out: "----(s)-(5)")
    }

    @Test func `says how long a run had lasted when it was shown`() throws {
        var policy = JobPolicy(hears: Set(JobNews.allCases))
        policy.workAfter = .seconds(5)
        var item = JobItem(job: "backup", bot: "ops")
        let start = Moment(seconds: 1_700_000_000)
        _ = item.receive(JobFact(run: 1, state: .starting, at: start), at: start, policy: policy)
        let later = start + .seconds(8)
        guard case .flush(let shown)? = item.wake(at: later, policy: policy).first,
            case .job(let report) = shown.content
        else {
            Issue.record("nothing is shown")
            return
        }
        #expect(report.fact.lasted == .seconds(8))
    }

    @Test func `keeps what a run reported before its start was noted`() throws {
        var policy = JobPolicy(hears: Set(JobNews.allCases))
        policy.workAfter = .seconds(5)
        var item = JobItem(job: "backup", bot: "ops")
        let start = Moment(seconds: 1_700_000_000)
        var said = JobFact(run: 1, state: .running, at: start)
        said.text = "indexing"
        _ = item.receive(said, at: start, policy: policy)
        _ = item.receive(JobFact(run: 1, state: .running, at: start), at: start, policy: policy)
        let shown = item.wake(at: start + .seconds(5), policy: policy)
        #expect(item.report?.fact.text == "indexing" && shown.count == 1)
        // Neither does it paint over what is shown.
        #expect(
            item.receive(JobFact(run: 1, state: .running, at: start), at: start + .seconds(9), policy: policy)
                .isEmpty)
        #expect(item.report?.fact.text == "indexing")
    }

    @Test func `replaces progress that was shown with the result, in silence`() throws {
        try expect(in: "s1----c", out: "----(1)-(ok)")
        try expect(in: "s1----k", out: "----(1)-(k)")
    }

    @Test func `rings for a failure at once, however short the run was`() throws {
        try expect(in: "sf-sc-----", out: "-[f1]--[up1]")
        try expect(in: "s1----f", out: "----(1)-[f1]")
    }

    @Test func `leaves a failure where it is while the next run has only just started`() throws {
        try expect(in: "sf-s1k----", out: "-[f1]")
        try expect(in: "sf^s1f----", out: "-[f1]x--(f2)")
    }

    @Test func `shows no result of progress that a person put away`() throws {
        try expect(in: "s1---^-c", out: "----(1)x")
    }

    @Test func `asks at once when a run waits for a person`() throws {
        try expect(in: "sb", out: "-[b]")
    }

    @Test func `shows the newest of runs that overlap`() throws {
        try expect(in: "s-s------", out: "------(s)")
    }

    @Test func `waits no longer than it should when the clock was set back`() {
        var policy = JobPolicy(hears: Set(JobNews.allCases))
        policy.workAfter = .seconds(5)
        var item = JobItem(job: "backup", bot: "ops")
        let start = Moment(seconds: 1_700_000_000)
        _ = item.receive(JobFact(run: 1, state: .running, at: start), at: start, policy: policy)
        #expect(item.flushAt == start + .seconds(5) && item.isEarly)
        let earlier = start - .seconds(3600)
        #expect(item.wake(at: earlier, policy: policy) == [.wakeAt(earlier + .seconds(5))])
        #expect(item.wake(at: earlier + .seconds(5), policy: policy).count == 1 && !item.isEarly)
    }

    @Test func `forgets its failures for a channel that they were not sent to`() {
        let policy = JobPolicy(hears: Set(JobNews.allCases), interval: .zero)
        var item = JobItem(job: "backup", bot: "ops")
        let start = Moment(seconds: 1_700_000_000)
        _ = item.receive(fact("f", of: 1, start), at: start, policy: policy)
        var other = item.withoutFailures
        #expect(other.failures == 0 && other.report == nil && item.failures == 1)
        let next = other.receive(fact("c", of: 2, start), at: start, policy: policy)
        guard case .flush(let shown)? = next.first, case .job(let report) = shown.content else {
            Issue.record("nothing shown")
            return
        }
        #expect(report.news == .completed && shown.revision > item.revision)
    }
}
