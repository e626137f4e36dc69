import Testing
import Timeline
import Tracking

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
