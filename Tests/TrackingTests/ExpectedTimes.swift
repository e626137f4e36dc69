import Testing
import Timeline

@testable import Tracking

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
