import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run that is paused` {
    /// Waits until the process is in one of these states, as `/proc` shows them.
    private func process(_ pid: Int32, is states: String) async throws {
        #expect(
            try await Shell.run("until grep -Eq '\\) [\(states)] ' /proc/\(pid)/stat; do sleep 0.01; done")
                == 0)
    }

    /// A run at work, with its first process.
    private func begin(_ scene: RunScene, _ command: String = "exec sleep 1000") async throws -> (
        RunRecord, Int32
    ) {
        let run = try await scene.queue(command)
        let row = try await scene.run(run) { $0.state == .running && $0.process?.pid ?? 0 > 0 }
        return (run, try #require(row.process).pid)
    }

    @Test func `stops, is shown so, goes on, and ends as it would have`() async throws {
        try await RunScene.run { scene in
            let (run, pid) = try await begin(
                scene, "trap 'exit 0' USR1; echo > up; while :; do sleep 0.1; done")
            let up = scene.home.folder.file("work/up")
            #expect(try await Shell.run("until [ -e \(up) ]; do sleep 0.01; done") == 0)
            try await scene.keeper.setPaused(true, run.id)
            #expect(try await scene.ledger.run(id: run.id)?.state == .paused)
            #expect(await scene.board.state(of: run.id)?.state == .paused)
            try await process(pid, is: "Tt")
            // Asked again, it stays so.
            try await scene.keeper.setPaused(true, run.id)
            try await scene.keeper.setPaused(false, run.id)
            #expect(try await scene.ledger.run(id: run.id)?.state == .running)
            #expect(await scene.board.state(of: run.id)?.state == .running)
            try await process(pid, is: "SR")
            #expect(try await Shell.run("kill -USR1 \(pid)") == 0)
            #expect(try await scene.end(of: run).state == .completed)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    @Test func `stays so while the daemon is away, and for the next one`() async throws {
        let home = try WardenHome()
        var paused: RunRecord?
        var pid: Int32 = 0
        try await RunScene.run(in: home) { scene in
            let (run, process) = try await begin(scene)
            try await scene.keeper.setPaused(true, run.id)
            try await self.process(process, is: "Tt")
            (paused, pid) = (run, process)
        }
        let run = try #require(paused)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            try await scene.live(run) { $0.state == .paused }
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.state == .paused)
            try await process(pid, is: "Tt")
            try await scene.keeper.setPaused(false, run.id)
            try await process(pid, is: "SR")
            try await scene.keeper.cancel(run.id)
            #expect(try await scene.end(of: run).state == .canceled)
        }
    }

    @Test func `and whose word was lost is stopped, or goes on, once the warden is there again`() async throws
    {
        let home = try WardenHome()
        var begun: (RunRecord, Int32)?
        var other: (RunRecord, Int32)?
        try await RunScene.run(in: home) { scene in
            begun = try await begin(scene)
            other = try await begin(scene)
            if let other {
                try await scene.keeper.setPaused(true, other.0.id)
                try await process(other.1, is: "Tt")
            }
        }
        let (run, pid) = try #require(begun)
        let (next, nextPid) = try #require(other)
        // The daemon was killed after the commits, and before it said so.
        let ledger = try home.folder.ledger()
        for (id, to) in [(run.id, RunState.paused), (next.id, .running)] {
            let row = try #require(try await ledger.run(id: id))
            let move = RunMove(run: id, from: [row.state], attempt: row.attempt, token: row.token, to: to)
            try await ledger.commit([.moveRun(move)])
        }
        await ledger.close()
        try await RunScene.run(in: home, incarnation: 2) { scene in
            try await process(pid, is: "Tt")
            try await process(nextPid, is: "SR")
            for run in [run, next] {
                try await scene.keeper.cancel(run.id)
                #expect(try await scene.end(of: run).state == .canceled)
            }
        }
    }

    @Test func `or resumed is nothing later where that could not be recorded`() async throws {
        try await RunScene.run { scene in
            let (run, pid) = try await begin(scene)
            // The store fails, as a disk without room does.
            func refuse(_ change: String) async throws {
                try await scene.change(
                    """
                    CREATE TRIGGER refusal BEFORE UPDATE ON run WHEN \(change)
                    BEGIN SELECT json('{'); END
                    """)
            }
            try await refuse("NEW.state = 5")
            let failure = await #expect(throws: EngineError.self) {
                try await scene.keeper.setPaused(true, run.id)
            }
            guard case .ledger(.storage) = failure else {
                Issue.record("\(failure as Any)")
                return
            }
            try await scene.change("DROP TRIGGER refusal")
            // What could not be recorded is recorded before another run starts.
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.state == .running)
            #expect(await scene.board.state(of: run.id)?.state == .running)
            try await process(pid, is: "SR")

            try await scene.keeper.setPaused(true, run.id)
            try await process(pid, is: "Tt")
            try await refuse("OLD.state = 5 AND NEW.state = 3")
            await #expect(throws: EngineError.self) { try await scene.keeper.setPaused(false, run.id) }
            try await scene.change("DROP TRIGGER refusal")
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.state == .paused)
            #expect(await scene.board.state(of: run.id)?.state == .paused)
            try await process(pid, is: "Tt")
            try await scene.keeper.cancel(run.id)
            #expect(try await scene.end(of: run).state == .canceled)
        }
    }

    @Test func `is ended by a cancel`() async throws {
        try await RunScene.run { scene in
            let (run, pid) = try await begin(scene)
            try await scene.keeper.setPaused(true, run.id)
            try await process(pid, is: "Tt")
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .canceled)
        }
    }

    @Test func `must have started, and not have ended`() async throws {
        try await RunScene.run(limits: RunLimits(running: 1)) { scene in
            let (run, _) = try await begin(scene)
            let waiting = try await scene.queue("true")
            await #expect(throws: EngineError.notPausable(run: waiting.name, .notStarted)) {
                try await scene.keeper.setPaused(true, waiting.id)
            }
            // What is not paused goes on anyway.
            try await scene.keeper.setPaused(false, run.id)
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            try await scene.left(ended)
            await #expect(throws: EngineError.ended(run: run.name, state: "canceled")) {
                try await scene.keeper.setPaused(true, run.id)
            }
            await #expect(throws: EngineError.noSuchRun("ghost")) {
                try await scene.keeper.setPaused(true, "ghost")
            }
        }
    }

    @Test func `works on this machine`() async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let performer = StreamPerformer(clock: clock)
        try await RunScene.run(
            in: try WardenHome(), clock: clock, launches: false, performers: [.stream: performer],
            choosing: { _ in .stream }
        ) { scene in
            let run = try await scene.queue(JobSpec.manual("talk", "wait"))
            try await scene.run(run) { $0.state == .running }
            await #expect(throws: EngineError.notPausable(run: run.name, .network)) {
                try await scene.keeper.setPaused(true, run.id)
            }
            #expect(try await scene.ledger.run(id: run.id)?.state == .running)
            performer.proceed()
            #expect(try await scene.end(of: run).state == .completed)
        }
    }

    @Test func `is none that only waits for a process of somebody else`() async throws {
        try await RunScene.run { scene in
            let folder = try TemporaryFolder()
            let program = folder.file("belfry")
            #expect(try await Shell.run("ln -s /bin/sh \(program)") == 0)
            // A shell that reads its program from the file of this name.
            #expect(try await Shell.run("echo 'exec sleep 1000' > attach-wait", in: folder.path) == 0)
            let spec = JobSpec.manual("followed", "true").with {
                $0.action = .command([program, "attach-wait", "1", "2"])
                $0.directory = folder.path
            }
            let run = try await scene.queue(spec)
            try await scene.run(run) { $0.state == .running }
            await #expect(throws: EngineError.notPausable(run: run.name, .followed)) {
                try await scene.keeper.setPaused(true, run.id)
            }
            try await scene.keeper.cancel(run.id)
            _ = try await scene.end(of: run)
        }
    }
}
