import Grouping
import TestSupport
import Testing
import Timeline
import Tracking

/// Plays one random life of a job and compares each version with counts kept beside it.
private struct Life {
    var random: SeededGenerator
    let policy = JobPolicy(hears: Set(JobNews.allCases))
    var item = JobItem(job: "backup", bot: "ops")
    var now = Moment(seconds: 1_700_000_000)
    var run = 0
    var failures: [String] = []
    var isUnreported = false
    var flushedAt: Moment?
    var faults: [String] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func play(steps: Int) {
        for _ in 0..<steps {
            run += 1
            for tenth in 0..<Int.random(in: 0...4, using: &random) {
                advance(by: 0...700)
                receive(JobFact(run: run, state: .running, progress: Double(tenth) / 10, at: now))
            }
            advance(by: 0...700)
            end()
            if Int.random(in: 0..<8, using: &random) == 0 {
                let actions = item.dismissed(revision: item.revision, at: now)
                if !actions.isEmpty { isUnreported = false }
            }
        }
        advance(by: 5000...5000)
        if item.flushAt != nil { faults.append("still waits at the end") }
        if isUnreported { faults.append("an outcome was never reported") }
        if item.failures != failures.count { faults.append("counts \(item.failures) failures") }
    }

    private mutating func end() {
        isUnreported = true
        if Bool.random(using: &random) {
            failures = []
            receive(JobFact(run: run, state: .completed, at: now))
        } else {
            let text = ["disk full", "no such host"].randomElement(using: &random) ?? ""
            failures.append(text)
            receive(JobFact(run: run, state: .failed, text: text, at: now))
        }
    }

    private mutating func advance(by gap: ClosedRange<Int>) {
        let moment = now + .milliseconds(Int.random(in: gap, using: &random))
        while let due = item.flushAt, due <= moment {
            now = max(now, due)
            check(item.wake(at: now, policy: policy))
        }
        now = moment
    }

    private mutating func receive(_ fact: JobFact) {
        check(item.receive(fact, at: now, policy: policy))
    }

    private mutating func check(_ actions: [ItemAction]) {
        for case .flush(let version) in actions {
            guard case .job(let report) = version.content else { continue }
            if let flushedAt, now - flushedAt < policy.interval { faults.append("two in a second") }
            flushedAt = now
            if report.fact.run == run, report.fact.state.isEnded { isUnreported = false }
            if report.news == .failed { checkCount(report) }
            if report.news == .recovered, report.failures == 0 || report.outage == nil {
                faults.append("a recovery from nothing")
            }
        }
    }

    private mutating func checkCount(_ report: JobReport) {
        guard report.fact.run == run || report.failures == failures.count else { return }
        let same = failures.reversed().prefix { $0 == failures.last }.count
        if report.failures != failures.count { faults.append("\(report.failures), not \(failures.count)") }
        if report.sameFailures != same { faults.append("\(report.sameFailures) alike, not \(same)") }
    }
}

@Suite struct `any life of a job` {
    @Test(arguments: 1...300)
    func `reports the last outcome, counts its failures and keeps the pace`(_ seed: Int) {
        var life = Life(seed: UInt64(seed))
        life.play(steps: 60)
        #expect(life.faults.isEmpty, "seed \(seed)")
    }
}
