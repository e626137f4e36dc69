import API
import TerminalView
import Testing
import Timeline
import Tracking

@testable import belfry

@Suite struct `the table of runs` {
    private func missing() -> WireRun {
        var run = WireRun(job: "foo", state: .failed, reason: .notFound)
        let task = LiveTask(id: "1", botID: "belfry", run: "foo#1", name: "foo", botName: "belfry")
        var live = LiveState(task: task, attempt: 1, seq: 1, state: .failed, updatedAt: Moment(seconds: 60))
        live.message = MissingProgram("foo", in: "/usr/bin:/bin").sentence
        run.live = WireLive(live, at: Moment(seconds: 60))
        (run.queuedAt, run.endedAt) = (Timestamp(Moment(seconds: 50)), Timestamp(Moment(seconds: 60)))
        return run
    }

    @Test func `names a program that is nowhere; where it was looked for stands in run show`() {
        #expect(RunText.state(missing()) == "failed: no program \"foo\"")
        #expect(RunText.why(missing()) == "no program \"foo\" in /usr/bin:/bin")
    }

    @Test func `has a time for a run that never started`() {
        var run = missing()
        #expect(RunText.when(run)?.moment == Moment(seconds: 60))
        run.endedAt = nil
        #expect(RunText.when(run)?.moment == Moment(seconds: 50))
        run.startedAt = Timestamp(Moment(seconds: 55))
        #expect(RunText.when(run)?.moment == Moment(seconds: 55))
    }
}
