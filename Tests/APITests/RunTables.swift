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

    @Test func `has the sentence of a failure, which stands below the end of a run that is followed`() {
        var run = missing()
        (run.reason, run.startedAt) = (.auth, Timestamp(Moment(seconds: 55)))
        let sentence = "sage: api.example.org refused the key (401); check bots.sage.key"
        run.live?.message = sentence
        #expect(RunText.sentence(run) == sentence && RunText.detail(run) == "the provider refused the key")
        let screen = Screen(color: .never)
        #expect(
            RunText.table([run], screen).lines(screen, empty: "").last?.contains("failed: \(sentence)")
                == true)
        // What a job said last is no reason, and one that never began has its sentence in the line itself.
        (run.reason, run.exitCode) = (.exitCode, 3)
        #expect(RunText.sentence(run) == nil)
        #expect(RunText.sentence(missing()) == nil)
    }

    @Test func `shows what a run waits for, and how many are before it`() {
        func words(_ kind: WaitKind, _ name: String? = nil, _ before: Int? = nil) -> String? {
            var run = WireRun(job: "foo", state: .queued, reason: kind.reason)
            run.waitsFor = WireWait(kind: kind, name: name, before: before)
            return RunText.detail(run)
        }
        #expect(words(.lane, "sage", 2) == "waits for sage, 2 before it")
        #expect(words(.lane, "sage") == "waits for sage")
        #expect(words(.overlap, "foo", 1) == "waits for the run before it")
        #expect(words(.concurrency, "gpu", 1) == "waits for other runs with the key gpu, 1 before it")
        #expect(words(.retry) == "waits for the next attempt")
        #expect(words(.network, "sage") == "waits to reach sage again")
        #expect(words(.network) == "waits for the network")
        var blocked = WireRun(job: "foo", state: .blocked)
        blocked.waitsFor = WireWait(kind: .question, name: "0190-0000-12345678")
        #expect(
            RunText.detail(blocked)
                == "waits for an answer: belfry answer 12345678")
        blocked.waitsFor = WireWait(kind: .auth)
        #expect(RunText.detail(blocked) == "waits for a login")
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
