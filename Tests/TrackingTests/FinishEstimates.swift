import TestSupport
import Testing
import Timeline

@testable import Tracking

@Suite struct `an estimate from past runs` {
    private struct Score {
        var blend = 0.0
        var naive = 0.0
        var median = 0.0
        var looks = 0.0
        var covered = 0.0
        var banded = 0.0
    }

    private static let steps = 200

    private func profile(_ times: [Double]) -> RunProfile? {
        var trace = RunTrace()
        for (index, time) in times.enumerated() {
            trace.note(Double(index + 1) / Double(Self.steps), at: time)
        }
        return times.last.flatMap { RunProfile(trace, total: $0) }
    }

    /// Replays runs of jobs of a kind, each with `past` runs before it, and looks 49 times at each.
    private func score(_ family: JobFamily, past: Int, seed: UInt64) -> Score {
        var generator = SeededGenerator(seed: seed)
        var score = Score()
        for _ in 0..<5 {
            let habits = family.makeHabits(&generator)
            let history = (0..<past).compactMap { _ in profile(habits.run(&generator)) }
            let estimator = FinishEstimator(history: history)
            var totals = history.suffix(10).map(\.total)
            let median = totals.isEmpty ? 0 : Statistics.median(&totals)
            for _ in 0..<3 { replay(habits.run(&generator), estimator, median: median, &score) }
        }
        return score
    }

    private func replay(
        _ times: [Double], _ estimator: FinishEstimator, median: Double, _ score: inout Score
    ) {
        guard let total = times.last else { return }
        var trace = RunTrace()
        var step = 0
        for look in 1..<50 {
            let now = total * Double(look) / 50
            while step < times.count, times[step] <= now {
                trace.note(Double(step + 1) / Double(Self.steps), at: times[step])
                step += 1
            }
            guard trace.count > 0, trace.progress < 1 else { continue }
            score.looks += 1
            let rest = total - now
            func error(_ estimate: Double) -> Double { min(abs(max(0, estimate) - rest) / total, 10) }
            score.naive += error(trace.elapsed / trace.progress - now)
            score.median += error(median - now)
            guard let finish = estimator.finish(of: trace, startedAt: at(0), at: at(now)) else {
                score.blend += error(median - now)
                continue
            }
            score.blend += error((finish.at - at(now)) / .seconds(1))
            if let low = finish.low, let high = finish.high {
                score.banded += 1
                if low <= at(total), at(total) <= high { score.covered += 1 }
            }
        }
    }

    @Test(arguments: [3, 4, 5])
    func `from a few past runs has a band that covers seven of ten ends, or none`(past: Int) {
        var sum = Score()
        for seed in UInt64(1)...2 {
            for family in JobFamily.allCases {
                let score = score(family, past: past, seed: seed)
                sum.covered += score.covered
                sum.banded += score.banded
                sum.looks += score.looks
            }
        }
        let share = sum.covered / max(1, sum.banded)
        #expect(sum.banded == 0 || share >= 0.7, "\(past) runs: the band covers \(share)")
        #expect(sum.banded <= sum.looks)
    }

    @Test(arguments: [UInt64(1), 2])
    func `is better than pace or past times alone, and its band holds in 8 of 10 cases`(seed: UInt64) {
        var sum = Score()
        for family in JobFamily.allCases {
            let score = score(family, past: 20, seed: seed)
            let share = score.covered / score.banded
            #expect(share > 0.65 && share < 0.93, "\(family): band covers \(share)")
            #expect(score.blend <= 1.25 * min(score.naive, score.median) + 0.01 * score.looks, "\(family)")
            sum.blend += score.blend
            sum.naive += score.naive
            sum.median += score.median
            sum.looks += score.looks
            sum.covered += score.covered
            sum.banded += score.banded
        }
        let figures =
            "blend \(sum.blend / sum.looks), naive \(sum.naive / sum.looks), median \(sum.median / sum.looks)"
        #expect(sum.blend / sum.looks <= 0.09, "\(figures)")
        #expect(sum.blend <= 0.75 * min(sum.naive, sum.median), "\(figures)")
        #expect(sum.covered / sum.banded > 0.72 && sum.covered / sum.banded < 0.88)
    }

    @Test func `helps from the first past run on`() {
        for past in [1, 2, 3, 5] {
            let score = score(.phases, past: past, seed: 7)
            #expect(score.blend < score.naive, "\(past) runs")
        }
    }

    @Test func `follows the shape of past runs when this one is three times slower`() {
        var generator = SeededGenerator(seed: 5)
        let habits = JobFamily.Habits(family: .phases, total: 600, shares: [1, 6, 1, 2])
        let estimator = FinishEstimator(history: (0..<20).compactMap { _ in profile(habits.run(&generator)) })
        let times = habits.run(&generator).map { $0 * 3 }
        var score = Score()
        var totals = [600.0]
        replay(times, estimator, median: Statistics.median(&totals), &score)
        #expect(score.blend / score.looks < 0.15)
        #expect(score.median / score.looks > 0.3)
    }

    @Test func `has no band before three runs can judge each other`() throws {
        var generator = SeededGenerator(seed: 9)
        let habits = JobFamily.linear.makeHabits(&generator)
        let history = (0..<2).compactMap { _ in profile(habits.run(&generator)) }
        var trace = RunTrace()
        trace.note(0.5, at: habits.total / 2)
        let finish = try #require(
            FinishEstimator(history: history).finish(of: trace, startedAt: at(0), at: at(0)))
        #expect(finish.low == nil && finish.high == nil)
    }

    @Test func `without any progress is the middle of the runs that took longer`() throws {
        let history = [100.0, 200, 300, 400, 500].compactMap { RunProfile(total: $0) }
        let estimator = FinishEstimator(history: history)
        let early = try #require(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(10)))
        #expect(early.at == at(300))
        #expect(early.low == at(100) && early.high == at(500))
        let late = try #require(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(450)))
        #expect(late == FinishTime(at: at(500)))
        #expect(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(501)) == nil)
        #expect(estimator.usualGap == nil)
        #expect(estimator.usual == .seconds(300))
    }

    @Test func `without any progress is none after two runs`() {
        let estimator = FinishEstimator(history: [100.0, 110].compactMap { RunProfile(total: $0) })
        #expect(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(10)) == nil)
        #expect(estimator.usual == nil)
    }

    @Test func `is adopted by a run under way, as if it had been known from the start`() {
        var generator = SeededGenerator(seed: 21)
        let habits = JobFamily.phases.makeHabits(&generator)
        let estimator = FinishEstimator(history: (0..<20).compactMap { _ in profile(habits.run(&generator)) })
        let times = habits.run(&generator)
        func follow(_ tracker: inout LiveTracker, _ steps: Range<Int>) {
            for step in steps {
                _ = tracker.receive(
                    ProgressReport(fraction: Double(step + 1) / 200), from: .native, at: at(times[step]))
            }
        }
        var first = LiveTracker(task: backup, incarnation: 1, estimator: estimator, at: at(0))
        var second = LiveTracker(task: backup, incarnation: 1, at: at(0))
        for state in [RunState.starting, .running] {
            _ = first.became(state, at: at(0))
            _ = second.became(state, at: at(0))
        }
        #expect(first.live.finish != nil && second.live.finish == nil)
        follow(&first, 0..<60)
        follow(&second, 0..<60)
        let seen = second.live
        #expect(second.learn(estimator, at: at(times[59])) == .tick)
        #expect(second.live.finish?.low != nil)
        #expect(second.live.usual?.microseconds == estimator.usual?.microseconds)
        #expect(second.live.seq > seen.seq && second.live.updatedAt == seen.updatedAt)
        #expect(second.stallsAt != nil)
        follow(&first, 60..<61)
        follow(&second, 60..<61)
        #expect(first.path == second.path)
        #expect(second.learn(FinishEstimator(), at: at(times[60])) == .none)
        _ = second.became(.failed, reason: .exitCode, at: at(times[60]))
        #expect(second.learn(estimator, at: at(times[60])) == .none)
    }

    @Test func `does not learn the shape of a run that an earlier daemon saw begin`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(10))
        var resumed = LiveTracker(resuming: tracker.live, incarnation: 2, at: at(11))
        for step in 6...9 {
            _ = resumed.receive(
                ProgressReport(fraction: Double(step) / 10), from: .native, at: at(Double(step) * 2))
        }
        _ = resumed.became(.completed, reason: .exitCode, at: at(20))
        #expect(resumed.profile == RunProfile(total: 20))
    }

    @Test func `lies within its band, and neither is ever out of range`() {
        var generator = SeededGenerator(seed: 11)
        let habits = JobFamily.bursty.makeHabits(&generator)
        let estimator = FinishEstimator(history: (0..<20).compactMap { _ in profile(habits.run(&generator)) })
        for progress in [1e-300, 1e-9, 0.001, 0.5, 0.999, 1.0.nextDown] {
            for elapsed in [1e-9, 0.5, 1e4, 1e9] {
                var trace = RunTrace()
                trace.note(progress, at: elapsed)
                guard let finish = estimator.finish(of: trace, startedAt: at(0), at: at(0)) else { continue }
                #expect((finish.low ?? finish.at) <= finish.at && finish.at <= (finish.high ?? finish.at))
                #expect(finish.at < at(1e11))
            }
        }
    }

    @Test func `keeps the last twenty runs`() {
        let old = (0..<30).compactMap { _ in RunProfile(total: 1000) }
        let new = (0..<20).compactMap { _ in RunProfile(total: 10) }
        let estimator = FinishEstimator(history: old + new)
        #expect(estimator.finish(of: RunTrace(), startedAt: at(0), at: at(0))?.at == at(10))
    }

    @Test func `is what a tracker says from the start, and moves on when the time passed`() {
        let history = [100.0, 200, 300].compactMap { RunProfile(total: $0) }
        var tracker = LiveTracker(
            task: backup, incarnation: 1, estimator: FinishEstimator(history: history), at: at(0))
        _ = tracker.became(.starting, at: at(0))
        _ = tracker.became(.running, at: at(0))
        #expect(tracker.live.finish?.at == at(200))
        // The run of 100 s is no measure any more once this one has lasted as long.
        #expect(tracker.nextRefresh == at(100))
        let later = tracker.refresh(at: at(100))
        #expect(later == .tick)
        #expect(tracker.live.finish == FinishTime(at: at(300)))
        #expect(tracker.nextRefresh == at(300))
        let late = tracker.refresh(at: at(300))
        #expect(late == .tick)
        #expect(tracker.live.finish == nil)
        #expect(tracker.nextRefresh == nil)
        _ = tracker.became(.completed, reason: .exitCode, at: at(310))
        #expect(tracker.profile == RunProfile(total: 310))
    }

    @Test func `learns from a run that completed and from no other`() {
        var tracker = runningTracker()
        for step in 1...9 {
            _ = tracker.receive(
                ProgressReport(fraction: Double(step) / 10), from: .native, at: at(Double(step)))
        }
        var failed = tracker
        _ = failed.became(.failed, reason: .exitCode, at: at(20))
        #expect(failed.profile == nil)
        _ = tracker.became(.completed, reason: .exitCode, at: at(20))
        #expect(tracker.profile?.reportsProgress == true)
        #expect(tracker.profile?.largestGap == 11)
        #expect(tracker.profile?.total == 20)
    }
}

@Suite struct `a logarithm` {
    @Test func `undoes the power, over all that can be left of a run`() {
        for power in -700...1000 {
            let number = Double.exp(Double(power) / 50)
            #expect(abs(Double.log(number) - Double(power) / 50) < 1e-12)
        }
        #expect(Double.log(1) == 0)
        #expect(abs(Double.exp(1) - 2.718_281_828_459_045) < 1e-14)
        #expect(abs(Double.log(10) - 2.302_585_092_994_046) < 1e-14)
    }
}

/// Kinds of jobs as they occur, each with its own way to get on; a job of a kind has its habits, a run of
/// it its luck.
enum JobFamily: String, CaseIterable {
    /// The same pace all the way.
    case linear
    /// Quick first, then ever slower.
    case slowing
    /// Slow first, then ever quicker.
    case accelerating
    /// In leaps and pauses that no two runs share.
    case bursty
    /// A few stretches of very unlike pace, alike in all runs.
    case phases
    /// Even, but for one or two long silences anywhere.
    case stalled

    /// The habits of one job of the kind.
    struct Habits {
        let family: JobFamily
        let total: Double
        /// The share of time of each of four equal phases.
        let shares: [Double]
    }

    func makeHabits(_ generator: inout SeededGenerator) -> Habits {
        Habits(
            family: self, total: .random(in: 60...3000, using: &generator),
            shares: (0..<4).map { _ in Double.exp(generator.normal()) })
    }
}

extension JobFamily.Habits {
    /// Seconds at which a run has done each of 200 equal steps.
    func run(_ generator: inout SeededGenerator) -> [Double] {
        let pace = Double.exp(0.15 * generator.normal())
        let steps = 200
        var costs = (1...steps).map { cost($0, of: steps, &generator) }
        if family == .phases {
            let luck = (0..<4).map { _ in Double.exp(0.15 * generator.normal()) }
            for step in costs.indices { costs[step] *= luck[step * 4 / steps] }
        }
        let scale = total * pace / costs.reduce(0, +)
        var times: [Double] = []
        for cost in costs { times.append((times.last ?? 0) + cost * scale) }
        guard family == .stalled else { return times }
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let place = Int.random(in: 0..<steps, using: &generator)
            for step in place..<steps { times[step] += total * 0.15 }
        }
        return times
    }

    private func cost(_ step: Int, of steps: Int, _ generator: inout SeededGenerator) -> Double {
        let done = Double(step) / Double(steps)
        let noise = Double.exp(0.1 * generator.normal())
        switch family {
        case .linear, .stalled: return noise
        case .slowing: return noise * (0.1 + done * done * 2)
        case .accelerating: return noise * (0.1 + (1 - done) * (1 - done) * 2)
        case .bursty: return Double.exp(1.5 * generator.normal())
        case .phases: return noise * shares[min(3, (step - 1) * 4 / steps)]
        }
    }
}

extension SeededGenerator {
    /// About normal, mean 0 and deviation 1: the sum of twelve even numbers.
    mutating func normal() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
}
