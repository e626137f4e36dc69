import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a run that is asked for` {
    private func request(
        _ job: String, key: String = "key:1", force: Bool = false
    ) -> RequestedRun {
        RequestedRun(job: job, kind: .manual, cause: key, force: force)
    }

    @Test func `is queued under the next number of its job`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.manual("job"))
            guard case .queued(let run) = try await scene.keeper.request(request("job")) else {
                Issue.record("not queued")
                return
            }
            #expect(run.name == "job#1" && run.kind == .manual && run.state == .queued)
            #expect(try await scene.ledger.run(job: "job", ordinal: 1) == run)
        }
    }

    @Test func `of a busy job is refused with the runs, unless forced`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("job", "0 * * * * *"))
            // The slot of this very moment counts as well.
            scene.clock.advance(to: at("10:01:00"))
            guard case .busy(let runs) = try await scene.keeper.request(request("job")) else {
                Issue.record("not busy")
                return
            }
            let first = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
            #expect(runs == [first.id])
            guard case .queued(let forced) = try await scene.keeper.request(request("job", force: true))
            else {
                Issue.record("not forced")
                return
            }
            #expect(forced.ordinal == 2)
        }
    }

    @Test func `twice with one key is one run, also at the same time and after a restart`() async throws {
        let folder = try TemporaryFolder()
        var ids: Set<String> = []
        for _ in 1...2 {
            try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
                try await scene.put(.manual("job"))
                async let one = scene.keeper.request(request("job", force: true))
                async let two = scene.keeper.request(request("job", force: true))
                for outcome in try await [one, two] {
                    switch outcome {
                    case .queued(let run), .known(let run):
                        #expect(run.name == "job#1")
                        ids.insert(run.id)
                    case .busy, .noSuchJob: Issue.record("refused")
                    }
                }
            }
        }
        #expect(ids.count == 1)
    }

    @Test func `by two at once is granted to one of them`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.manual("job"))
            async let one = scene.keeper.request(request("job", key: "key:a"))
            async let two = scene.keeper.request(request("job", key: "key:b"))
            var granted = 0
            for outcome in try await [one, two] {
                if case .queued = outcome { granted += 1 }
            }
            #expect(granted == 1)
            #expect(try await scene.ledger.runs(RunFilter()).count == 1)
        }
    }

    @Test func `of a job nobody knows is refused`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            guard case .noSuchJob = try await scene.keeper.request(request("ghost")) else {
                Issue.record("not refused")
                return
            }
        }
    }

    @Test func `with a spec of its own needs no job`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            let spec = JobSpec.manual("make", "make all")
            let request = RequestedRun(job: "make", kind: .exec, cause: "exec:1", force: true, spec: spec)
            guard case .queued(let run) = try await scene.keeper.request(request) else {
                Issue.record("not queued")
                return
            }
            #expect(run.name == "make#1" && run.spec == spec)
            #expect(try await scene.ledger.jobs().isEmpty)
        }
    }
}

@Suite struct `what the keeper of slots sees of the clocks` {
    private func watch(_ clock: ManualClock, slept: Mutexed<Duration> = Mutexed(.zero)) -> SlotClock {
        SlotClock(clock, machine: ClockEdges(isSynchronised: { true }, slept: { slept.value }))
    }

    @Test func `is nothing while they run on`() {
        let clock = ManualClock(now: at("10:00:00"))
        var watch = watch(clock)
        clock.advance(by: .seconds(3600))
        #expect(watch.readClocks() == SlotClock.Change())
    }

    @Test func `is a sleep of the machine, and a clock that was set back, once each`() {
        let clock = ManualClock(now: at("10:00:00"))
        let slept = Mutexed(Duration.zero)
        var watch = watch(clock, slept: slept)
        slept.value = .seconds(60)
        clock.set(to: at("09:59:00"))
        #expect(watch.readClocks() == SlotClock.Change(slept: .seconds(60), wentBack: .seconds(60)))
        #expect(watch.readClocks() == SlotClock.Change())
        clock.set(to: at("09:58:59"))
        #expect(watch.readClocks() == SlotClock.Change())
    }

    @Test func `shows a new era for a day`() {
        let clock = ManualClock(now: at("10:00:00"))
        var watch = watch(clock)
        #expect(watch.recentSetBack == nil)
        watch.noteEra(by: .seconds(4 * 3600))
        clock.advance(by: .seconds(86_399))
        #expect(watch.recentSetBack == .seconds(4 * 3600))
        clock.advance(by: .seconds(1))
        #expect(watch.recentSetBack == nil)
    }
}
