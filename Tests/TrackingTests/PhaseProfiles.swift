import TestSupport
import Testing
import Timeline

@testable import Tracking

/// A job of three phases; each takes its time by the run's own luck, and reports its own progress.
private struct PhasedJob {
    var phases = [("scan", 20.0), ("copy", 300.0), ("verify", 80.0)]

    /// The tracker of a run that got through all phases, or up to `elapsed` seconds.
    func run(
        _ luck: Double, after history: [RunProfile] = [], until limit: Double = .infinity
    ) -> LiveTracker {
        var tracker = runningTracker()
        _ = tracker.learn(FinishEstimator(history: history), at: at(0))
        var start = 0.0
        for (name, usual) in phases {
            let seconds = usual * luck
            for step in 0...10 {
                let now = start + seconds * Double(step) / 10
                guard now <= limit else { return tracker }
                _ = tracker.receive(
                    ProgressReport(fraction: Double(step) / 10, phase: name), from: .native, at: at(now))
            }
            start += seconds
        }
        _ = tracker.became(.completed, at: at(start))
        return tracker
    }
}

@Suite struct `a profile with phases` {
    private func history(_ count: Int, of job: PhasedJob = PhasedJob()) throws -> [RunProfile] {
        try (0..<count).map { try #require(job.run(1 + Double($0 % 5) * 0.02).profile) }
    }

    @Test func `knows how long each phase took, also when it is read again`() throws {
        let profile = try #require(PhasedJob().run(1).profile)
        #expect(profile.phases.map(\.name) == ["scan", "copy", "verify"])
        #expect(profile.phases.map { $0.seconds.rounded() } == [20, 300, 80])
        #expect(profile.phases.map { $0.start.rounded() } == [0, 20, 320])
        var marked = profile
        marked.arguments = RunProfile.mark(ofArguments: ["rsync", "-a"])
        for stored in [profile, marked] {
            let read = try #require(RunProfile(bytes: stored.bytes))
            #expect(read.phases == stored.phases && read.arguments == stored.arguments)
            for count in 0..<stored.bytes.count where count > 6 {
                let part = RunProfile(bytes: Array(stored.bytes.prefix(count)))
                #expect(part == nil || part?.phases.count ?? 0 < 3)
            }
        }
    }

    @Test func `keeps sixteen of ten thousand phases, and survives hostile bytes`() throws {
        var tracker = runningTracker()
        for number in 0..<10_000 {
            let name = String(repeating: "🧑‍🧑‍🧒‍🧒", count: 60) + "\(number)"
            _ = tracker.receive(ProgressReport(phase: name), from: .native, at: at(Double(number)))
        }
        _ = tracker.became(.completed, at: at(10_000))
        let profile = try #require(tracker.profile)
        #expect(profile.phases.count <= 16 && profile.bytes.count < 16 * 130)
        #expect(RunProfile(bytes: profile.bytes)?.phases.count == profile.phases.count)
        var generator = SeededGenerator(seed: 21)
        let bytes = try #require(PhasedJob().run(1).profile).bytes
        for _ in 0..<5000 {
            var hostile = bytes
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                hostile[Int.random(in: 1..<hostile.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            guard let read = RunProfile(bytes: hostile) else { continue }
            #expect(read.phases.allSatisfy { $0.start >= 0 && $0.seconds >= 0 && $0.seconds.isFinite })
        }
    }

    @Test func `names the phase that took three times as long`() throws {
        var slow = PhasedJob()
        slow.phases[1].1 *= 3
        let past = try history(10)
        let newest = try #require(slow.run(1).profile)
        let comparison = try #require(ProfileComparison(past + [newest]))
        #expect(comparison.slow?.name == "copy")
        #expect(comparison.parts.map(\.name) == ["scan", "copy", "verify"])
        #expect(comparison.runs == 10)
        let usual = try #require(ProfileComparison(past))
        #expect(usual.slow == nil)
        #expect(ProfileComparison(Array(past.prefix(3))) == nil)
    }

    @Test func `names the tenth of the progress that took longer, where there are no phases`() throws {
        func profile(slowing: Bool) throws -> RunProfile {
            var trace = RunTrace()
            for step in 1...100 {
                let extra = slowing && step > 40 ? Double(min(step - 40, 10)) * 8 : 0
                trace.note(Double(step) / 100, at: Double(step) + extra)
            }
            return try #require(RunProfile(trace, total: trace.elapsed))
        }
        let past = try (0..<5).map { _ in try profile(slowing: false) }
        #expect(ProfileComparison(past + [try profile(slowing: true)])?.slow?.name == "40 to 50 %")
    }

    @Test(arguments: [10.0, 25, 100, 200, 330, 390])
    func `shows when a run will be done that reports progress by phase`(elapsed: Double) throws {
        let live = PhasedJob().run(1, after: try history(12), until: elapsed).live
        let finish = try #require(live.finish)
        let end = (finish.at - at(0)) / .seconds(1)
        #expect(abs(end - 400) < max(20, (400 - elapsed) * 0.1), "\(end)")
        let (low, high) = (try #require(finish.low), try #require(finish.high))
        #expect(low <= finish.at && finish.at <= high)
    }

    @Test func `shows when a run will be done that names its phases and no more`() throws {
        var tracker = runningTracker()
        _ = tracker.learn(FinishEstimator(history: try history(12)), at: at(0))
        // Twice as slow as usual: what past runs took in all is no measure.
        for (name, second) in [("scan", 0.0), ("copy", 40), ("verify", 640)] {
            _ = tracker.receive(ProgressReport(phase: name), from: .native, at: at(second))
        }
        let end = (try #require(tracker.live.finish).at - at(0)) / .seconds(1)
        #expect((700.0...810).contains(end), "\(end)")
    }
}

@Suite struct `a job that takes longer from run to run` {
    private func estimate(_ totals: [Double]) throws -> Double {
        let estimator = FinishEstimator(history: totals.compactMap { RunProfile(total: $0) })
        let finish = try #require(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(0)))
        return (finish.at - at(0)) / .seconds(1)
    }

    @Test func `is expected to take longer again`() throws {
        var generator = SeededGenerator(seed: 5)
        var totals: [Double] = []
        for run in 0..<20 {
            let luck = Double.random(in: 0.9...1.1, using: &generator)
            totals.append(100 * luck * Double.exp(0.03 * Double(run)))
        }
        let truth = 100 * Double.exp(0.6)
        #expect(abs(try estimate(totals) - truth) < truth * 0.1)
    }

    @Test func `is not one that became slower once, or differs by luck`() throws {
        var step: [Double] = []
        for run in 0..<20 { step.append((run < 10 ? 100 : 200) + Double(run % 3)) }
        #expect(try estimate(step) < 210)
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<20 {
            let totals = (0..<20).map { _ in Double.random(in: 80...120, using: &generator) }
            #expect((80.0...120).contains(try estimate(totals)))
        }
    }
}
