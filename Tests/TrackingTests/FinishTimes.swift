import TestSupport
import Testing
import Timeline

@testable import Tracking

@Suite struct `a finish time` {
    private func tracker(of reports: [(second: Double, progress: Double)]) -> LiveTracker {
        var tracker = runningTracker()
        for report in reports {
            _ = tracker.receive(
                ProgressReport(fraction: report.progress), from: .native, at: at(report.second))
        }
        return tracker
    }

    @Test(arguments: [(14.0, 0.5), (100.0, 0.04), (16.0, 1.0)])
    func `is not shown before 15 s and 5 %, nor when all is done`(second: Double, progress: Double) {
        #expect(tracker(of: [(second, progress)]).live.finish == nil)
    }

    @Test func `follows the pace so far when no past run is known, without a band`() {
        let finish = tracker(of: [(10, 0.1), (20, 0.25)]).live.finish
        #expect(finish == FinishTime(at: at(80)))
    }

    @Test func `stays where it is while it only trembles`() {
        let reports = [(20.0, 0.25), (40, 0.51), (41, 0.505), (60, 0.74)]
        #expect(tracker(of: reports).live.finish?.at == at(80))
    }

    @Test func `moves when the pace really changed`() {
        let finish = tracker(of: [(20, 0.25), (120, 0.30)]).live.finish
        #expect(finish == FinishTime(at: at(400)))
    }

    @Test func `is silent once the progress is that of a phase`() {
        var tracker = tracker(of: [(20, 0.5)])
        _ = tracker.receive(ProgressReport(fraction: 0.1, phase: "verify"), from: .native, at: at(40))
        #expect(tracker.live.finish == nil)
        _ = tracker.receive(ProgressReport(fraction: 0.6), from: .native, at: at(60))
        #expect(tracker.live.finish == nil)
    }

    @Test func `is the job's own word where it gives one`() {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(fraction: 0.01, etaSeconds: 90), from: .native, at: at(10))
        #expect(tracker.live.finish == FinishTime(at: at(100)))
        #expect(tracker.live.secondsRemaining(at: at(10)) == 90)
        #expect(tracker.live.secondsRemaining(at: at(100)) == nil)
    }

    @Test func `does not count the time a person took to answer`() {
        var tracker = tracker(of: [(20, 0.25)])
        _ = tracker.receive(ProgressReport(word: .blocked(.question)), from: .native, at: at(20))
        #expect(tracker.live.finish == nil)
        _ = tracker.receive(ProgressReport(word: .working), from: .native, at: at(1020))
        _ = tracker.receive(ProgressReport(fraction: 0.5), from: .native, at: at(1040))
        #expect(tracker.live.finish == FinishTime(at: at(1080)))
    }

    @Test func `goes with the end of the run`() {
        var tracker = tracker(of: [(20, 0.25)])
        _ = tracker.became(.completed, reason: .exitCode, at: at(30))
        #expect(tracker.live.finish == nil)
    }

    @Test(arguments: [Double.infinity, -1, .nan, 1e300])
    func `is never out of range, whatever the job reports`(seconds: Double) {
        var tracker = runningTracker()
        _ = tracker.receive(ProgressReport(etaSeconds: seconds), from: .native, at: at(0))
        #expect((tracker.live.secondsRemaining(at: at(0)) ?? 0) <= 31_536_000)
    }
}

@Suite struct `what is shown of a finish time` {
    private func words(_ finish: Double, low: Double? = nil, high: Double? = nil, now: Double = 0) -> String?
    {
        FinishTime(at: at(finish), low: low.map(at), high: high.map(at)).claim(at: at(now))?.words
    }

    @Test(
        arguments: [
            (0.4, "about 1 s left"), (3, "about 3 s left"), (6.4, "about 6 s left"), (12, "about 10 s left"),
            (42, "about 40 s left"), (58, "about 1 min left"), (130, "about 2 min 15 s left"),
            (290, "about 4 min 45 s left"), (500, "about 8 min left"), (3590, "about 1 h left"),
            (52_500, "about 14 h 35 min left"),
        ] as [(Double, String)])
    func `is rounded to what it is worth`(seconds: Double, expected: String) {
        #expect(words(seconds, low: seconds * 0.9, high: seconds * 1.1) == expected)
    }

    @Test func `is a range when the band is wide, and nothing when it is wider`() {
        #expect(words(180, low: 150, high: 210) == "about 3 min left")
        #expect(words(180, low: 120, high: 300) == "2 to 5 min left")
        #expect(words(660, low: 540, high: 830) == "9 to 14 min left")
        #expect(words(60, low: 30, high: 90) == "30 to 90 s left")
        #expect(words(10_000, low: 5000, high: 18_000) == "1 to 5 h left")
        #expect(words(180, low: 60, high: 300) == nil)
    }

    @Test func `begins with a tilde where too few past runs are known`() {
        #expect(words(180) == "~3 min left")
    }

    @Test func `is never zero: what did not come true is not shown`() {
        #expect(words(180, low: 170, high: 190, now: 180) == nil)
        #expect(words(180, now: 400) == nil)
        // The early end has passed, the late one has not.
        #expect(words(180, low: 170, high: 181, now: 179) == "1 to 2 s left")
    }

    @Test func `is what the seconds left follow`() {
        var live = LiveState(task: backup, attempt: 1, seq: 1, state: .running, updatedAt: at(0))
        live.finish = FinishTime(at: at(180), low: at(150), high: at(210))
        #expect(live.secondsRemaining(at: at(0)) == 180)
        live.finish = FinishTime(at: at(180), low: at(30), high: at(210))
        #expect(live.secondsRemaining(at: at(0)) == nil)
    }
}

@Suite struct `a stored profile` {
    private func profile(_ generator: inout SeededGenerator) throws -> RunProfile {
        let family = try #require(JobFamily.allCases.randomElement(using: &generator))
        let times = family.makeHabits(&generator).run(&generator)
        var trace = RunTrace()
        for (index, time) in times.enumerated() {
            trace.note(Double(index + 1) / Double(times.count), at: time)
        }
        return try #require(RunProfile(trace, total: times[times.count - 1]))
    }

    @Test func `is small, and close to the one that was stored`() throws {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<50 {
            let profile = try profile(&generator)
            let bytes = profile.bytes
            #expect(bytes.count == 135)
            let read = try #require(RunProfile(bytes: bytes))
            #expect(read.reportsProgress && abs(read.total - profile.total) < 1e-6 * profile.total)
            #expect(abs(read.largestGap - profile.largestGap) < 1e-6 * profile.total)
            for step in 0...64 {
                let progress = Double(step) / 64
                let shift = abs(read.seconds(at: progress) - profile.seconds(at: progress))
                #expect(shift < 1e-5 * profile.total)
            }
            #expect(read.reached == read.reached.sorted())
        }
    }

    @Test func `of a run without progress is five bytes`() throws {
        let profile = try #require(RunProfile(total: 12.5))
        #expect(profile.bytes.count == 5)
        #expect(RunProfile(bytes: profile.bytes) == profile)
    }

    @Test func `that is damaged, or of a later form, is none`() throws {
        var generator = SeededGenerator(seed: 13)
        let bytes = try profile(&generator).bytes
        for count in 0..<bytes.count where count != 5 {
            #expect(RunProfile(bytes: Array(bytes.prefix(count))) == nil)
        }
        #expect(RunProfile(bytes: bytes + [0]) == nil)
        #expect(RunProfile(bytes: [3] + bytes.dropFirst()) == nil)
        for _ in 0..<5000 {
            var hostile = bytes
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                hostile[Int.random(in: 1..<hostile.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            guard let read = RunProfile(bytes: hostile) else { continue }
            #expect(read.total.isFinite && read.total > 0 && read.reached == read.reached.sorted())
            #expect(read.reached.last == read.total)
        }
    }
}

@Suite struct `how long people expect a run to take` {
    private let start = Moment(seconds: 1_000_000)

    @Test func `is its finish time while fewer than three runs are known, without a band`() {
        let estimator = FinishEstimator(
            history: [10].compactMap { RunProfile(total: $0) }, usually: .seconds(300))
        #expect(estimator.knowsAnything && estimator.usual == .seconds(300))
        let finish = estimator.finish(of: RunTrace(), startedAt: start, at: start + .seconds(60))
        #expect(finish == FinishTime(at: start + .seconds(300)))
        #expect(finish?.claim(at: start + .seconds(60))?.words == "~4 min left")
        #expect(estimator.finish(of: RunTrace(), startedAt: start, at: start + .seconds(300)) == nil)
    }

    @Test func `is replaced by three runs`() {
        let history = [10, 10, 10].compactMap { RunProfile(total: $0) }
        let estimator = FinishEstimator(history: history, usually: .seconds(300))
        #expect(estimator.usual == .seconds(10))
        let finish = estimator.finish(of: RunTrace(), startedAt: start, at: start + .seconds(1))
        #expect(finish?.at == start + .seconds(10) && finish?.low != nil)
    }

    @Test func `gives way to a pace that says more`() {
        var trace = RunTrace()
        trace.note(0.01, at: 1)
        let estimator = FinishEstimator(usually: .seconds(300))
        #expect(
            estimator.finish(of: trace, startedAt: start, at: start + .seconds(2))?.at == start
                + .seconds(300))
        trace.note(0.5, at: 20)
        let paced = estimator.finish(of: trace, startedAt: start, at: start + .seconds(20))
        #expect(paced.map { abs(($0.at - start - .seconds(40)).milliseconds) < 10 } == true)
        #expect(FinishEstimator().finish(of: RunTrace(), startedAt: start, at: start) == nil)
    }
}
