import Delivery
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run that is tried more than once` {
    private func job(_ command: String, attempts: Int = 3) -> JobSpec {
        JobSpec.manual("job", command).with {
            $0.attempts = attempts
            $0.backoff = .seconds(10)
        }
    }

    /// Waits for the moment of the next attempt, and lets it come.
    @discardableResult
    private func pass(_ scene: RunScene, _ run: RunRecord, to attempt: Int) async throws -> RunRecord {
        let waiting = try await scene.run(run) { $0.state == .queued && $0.attempt == attempt }
        #expect(waiting.reason == .retryWait)
        let moment = try #require(waiting.notBefore)
        scene.clock.advance(to: max(moment, scene.clock.now))
        return waiting
    }

    @Test func `is one run with its attempts, and its outcome is reported once`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queueStored(job("echo $BELFRY_ATTEMPT; exit $((3 - BELFRY_ATTEMPT))"))
            try await pass(scene, run, to: 2)
            try await pass(scene, run, to: 3)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .completed && ended.exitCode == 0 && ended.attempt == 3)
            let attempts = try await scene.ledger.attempts(of: run.id)
            #expect(attempts.map(\.state) == [.failed, .failed, .completed])
            #expect(attempts.map(\.exitCode) == [2, 1, 0])
            #expect(attempts.allSatisfy { $0.startedAt != nil && $0.endedAt != nil })
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
            #expect(ended.live?.attempt == 3 && ended.live?.state == .completed)
        }
    }

    @Test func `fails once, when no attempt is left`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queueStored(job("exit 9", attempts: 2))
            try await pass(scene, run, to: 2)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .failed && ended.reason == .exitCode && ended.exitCode == 9)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runFailed])
            try await scene.settled()
            #expect(!scene.census.isBusy("job"))
        }
    }

    @Test func `shows in its last state why it could not be started`() async throws {
        try await RunScene.run { scene in
            let spec = job("true").with { $0.directory = "/no/such/folder" }
            let ended = try await scene.end(of: scene.queueStored(spec))
            #expect(ended.reason == .badDirectory)
            #expect(ended.live?.message == "/no/such/folder: No such file or directory")
            let nobody = JobSpec.manual("nobody", "true").with {
                $0.process = ProcessRules()
                $0.process?.user = "no-such-user"
            }
            let refused = try await scene.end(of: scene.queueStored(nobody))
            #expect(refused.reason == .badUser)
            #expect(refused.live?.message == "this machine has no user \"no-such-user\"")
            #expect(try await scene.events(of: refused).last?.message == refused.live?.message)
        }
    }

    @Test func `is not when the command does not exist`() async throws {
        try await RunScene.run { scene in
            let spec = job("").with { $0.action = .command(["/no/such/program"]) }
            let ended = try await scene.end(of: scene.queueStored(spec))
            #expect(ended.state == .failed && ended.reason == .notFound && ended.attempt == 1)
        }
    }

    @Test func `never is beyond the next slot of its job`() async throws {
        try await RunScene.run { scene in
            let spec = job("exit 1").with {
                $0.schedule = ScheduleSpec(kind: .cron, text: "* * * * * *", zone: "UTC")
            }
            let ended = try await scene.end(of: scene.queueStored(spec))
            #expect(ended.state == .failed && ended.attempt == 1)
        }
    }

    @Test func `holds back the others of its job while it waits, and no one else of its key`() async throws {
        try await RunScene.run { scene in
            let spec = job("[ $BELFRY_ATTEMPT = 2 ]").with {
                $0.overlap = .queueAll
                $0.concurrency = ConcurrencyKey(key: "disk")
            }
            let run = try await scene.queueStored(spec)
            let waiting = try await scene.run(run) { $0.state == .queued && $0.attempt == 2 }
            let next = try await scene.queueStored(spec)
            let other = JobSpec.manual("other").with { $0.concurrency = ConcurrencyKey(key: "disk") }
            #expect(try await scene.end(of: scene.queue(other)).state == .completed)
            #expect(try await scene.ledger.run(id: next.id)?.state == .queued)
            scene.clock.advance(to: max(try #require(waiting.notBefore), scene.clock.now))
            #expect(try await scene.end(of: run).state == .completed)
            // Its wait may be shorter than that of the first, and over by now.
            let again = try await scene.run(next) { $0.attempt == 2 }
            if let moment = again.notBefore { scene.clock.advance(to: max(moment, scene.clock.now)) }
            #expect(try await scene.end(of: next).state == .completed)
        }
    }

    @Test func `can be cancelled while it waits`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queueStored(job("[ -e ../good ]"))
            try await scene.run(run) { $0.state == .queued && $0.attempt == 2 }
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.attempt == 2)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCanceled])
            try scene.open("good")
            let next = try await scene.queueStored(job("[ -e ../good ]"))
            #expect(try await scene.end(of: next).state == .completed)
        }
    }

    @Test func `still waits after a restart of the daemon`() async throws {
        let home = try WardenHome()
        var first: RunRecord?
        try await RunScene.run(in: home) { scene in
            let run = try await scene.queueStored(job("[ $BELFRY_ATTEMPT = 2 ]"))
            first = try await scene.run(run) { $0.state == .queued && $0.attempt == 2 }
        }
        let run = try #require(first)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            scene.clock.advance(by: .seconds(20))
            let ended = try await scene.end(of: run)
            #expect(ended.state == .completed && ended.attempt == 2)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    @Test func `is after it was lost, where the job asks for it`() async throws {
        try await RunScene.run { scene in
            let spec = job("[ $BELFRY_ATTEMPT = 2 ] || exec sleep 1000").with { $0.retriesLost = true }
            let run = try await scene.queueStored(spec)
            let running = try await scene.run(run) { $0.state == .running }
            let warden = try #require(await scene.keeper.wardenProcess)
            kill(warden, SIGKILL)
            let leader = try #require(running.process).pid
            kill(-leader, SIGKILL)
            try await pass(scene, run, to: 2)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .completed)
            #expect(try await scene.ledger.attempts(of: run.id).map(\.state) == [.lost, .completed])
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    /// A job whose attempts leave a process behind that runs on, in a session of its own.
    private func leaving(_ policy: LeftoverPolicy) -> JobSpec {
        job(
            """
            [ $BELFRY_ATTEMPT = 1 ] || exec echo $BELFRY_ATTEMPT >> ../again
            setsid sh -c 'echo $$ > ../left; exec sleep 600' > /dev/null 2>&1 &
            until [ -s ../left ] && read pid < ../left && grep -q sleep /proc/$pid/comm; do :; done; exit 1
            """, attempts: 2
        ).with { $0.leftovers = policy }
    }

    /// The attempt was refused: lets the next moment come for which it waits.
    private func passOn(_ scene: RunScene, _ waiting: RunRecord) async throws -> RunRecord {
        let again = try await scene.run(waiting) { $0.state != .starting && $0.token > waiting.token }
        if let moment = again.notBefore { scene.clock.advance(to: max(moment, scene.clock.now)) }
        return again
    }

    @Test func `ends what the one before left running when the wait for it ends, and begins`()
        async throws
    {
        try await RunScene.run { scene in
            let run = try await scene.queueStored(leaving(LeftoverPolicy(wait: .seconds(5), then: .end)))
            var waiting = try await pass(scene, run, to: 2)
            waiting = try await passOn(scene, waiting)
            let left = try #require(try scene.lines(of: "left").first)
            #expect(waiting.live?.message == "process \(left) (sleep) of an earlier attempt still runs")
            #expect(kill(try #require(Int32(left)), 0) == 0)
            // Refused once more, and ended.
            let again = try await scene.run(waiting) { $0.state == .queued && $0.token > waiting.token }
            try #require(
                try await Shell.run("timeout 120 sh -c 'while kill -0 \(left) 2>/dev/null; do :; done'") == 0)
            scene.clock.advance(to: max(try #require(again.notBefore), scene.clock.now))
            let ended = try await scene.end(of: run)
            #expect(ended.state == .completed && ended.live?.message == nil)
            #expect(try scene.lines(of: "again") == ["2"])
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    @Test func `fails and names what the one before left running, where that may not be ended`() async throws
    {
        try await RunScene.run { scene in
            let run = try await scene.queueStored(leaving(LeftoverPolicy(wait: .seconds(5), then: .fail)))
            let waiting = try await pass(scene, run, to: 2)
            _ = try await passOn(scene, waiting)
            let ended = try await scene.end(of: run)
            let left = try #require(try scene.lines(of: "left").first.flatMap { Int32($0) })
            defer { kill(left, SIGKILL) }
            #expect(ended.state == .failed && ended.reason == .leftovers && kill(left, 0) == 0)
            let reported = try await scene.events(of: run)
            #expect(reported.map(\.type) == [.runStarted, .runFailed])
            #expect(reported.last?.message == "process \(left) (sleep) of an earlier attempt still runs")
            #expect(ended.live?.message == reported.last?.message)
            try await scene.settled()
            #expect(!scene.census.isBusy("job"))
        }
    }

    @Test func `waits no longer for what is left because the daemon was started again`() async throws {
        let home = try WardenHome()
        var waiting: RunRecord?
        try await RunScene.run(in: home) { scene in
            let run = try await scene.queueStored(leaving(LeftoverPolicy(wait: .seconds(60), then: .fail)))
            let second = try await pass(scene, run, to: 2)
            waiting = try await scene.run(second) { $0.state == .queued && $0.token > second.token }
        }
        let run = try #require(waiting)
        let later = ManualClock(now: .now + .seconds(300), sinceBoot: .sinceBoot)
        try await RunScene.run(in: home, clock: later) { scene in
            let left = try #require(try scene.lines(of: "left").first.flatMap { Int32($0) })
            defer { kill(left, SIGKILL) }
            let ended = try await scene.end(of: run)
            #expect(ended.state == .failed && ended.reason == .leftovers && ended.attempt == 2)
        }
    }

    @Test func `leaves what it left running alone when no attempt is left, and fails at once`() async throws {
        try await RunScene.run { scene in
            let spec = leaving(.standard).with { $0.attempts = 1 }
            let ended = try await scene.end(of: scene.queueStored(spec))
            let left = try #require(try scene.lines(of: "left").first.flatMap { Int32($0) })
            defer { kill(left, SIGKILL) }
            #expect(ended.state == .failed && ended.reason == .exitCode && kill(left, 0) == 0)
            #expect(ended.survivors?.map(\.pid) == [left])
        }
    }

    @Test func `is even when the ledger could not be read at the end of the one before`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let failing = job("[ $BELFRY_ATTEMPT = 2 ] || { read line < ../go; exit 1; }")
            let run = try await scene.queueStored(failing)
            try await scene.run(run) { $0.state == .running }
            try await scene.change("ALTER TABLE job RENAME TO away")
            try await scene.write("go")
            while await scene.clock.nextSleeper() != scene.clock.now + .seconds(1) {}
            #expect(try await scene.ledger.run(id: run.id)?.state == .running)
            try await scene.change("ALTER TABLE away RENAME TO job")
            scene.clock.advance(by: .seconds(1))
            try await pass(scene, run, to: 2)
            #expect(try await scene.end(of: run).state == .completed)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    @Test func `is although a slot comes first, while the job is paused`() async throws {
        try await RunScene.run { scene in
            let spec = job("exit $((2 - BELFRY_ATTEMPT))").with {
                $0.schedule = ScheduleSpec(kind: .cron, text: "* * * * * *", zone: "UTC")
            }
            var record = JobRecord(spec: spec, origin: .cli, revision: 1, since: scene.clock.now)
            record.spec.directory = scene.home.folder.file("work")
            record.pause = Pause(since: scene.clock.now)
            try await scene.ledger.commit([.putJob(record, replacing: nil)])
            let run = try await scene.queueStored(spec)
            try await pass(scene, run, to: 2)
            #expect(try await scene.end(of: run).state == .completed)
        }
    }

    @Test func `never is while a process of the attempt before lives`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            // What it leaves behind is in a session of its own, and bears its id.
            let spec = job(
                """
                [ $BELFRY_ATTEMPT = 1 ] || exec echo $BELFRY_ATTEMPT >> ../again
                setsid sh -c 'echo $$ > ../left; read line < ../go' > /dev/null 2>&1 &
                until [ -s ../left ]; do :; done; exit 1
                """)
            let run = try await scene.queueStored(spec)
            let waiting = try await pass(scene, run, to: 2)
            // It was refused, and waits once more.
            try await scene.run(run) { $0.state == .queued && $0.token > waiting.token }
            #expect(try await scene.ledger.attempts(of: run.id).map(\.n) == [1])
            try await scene.write("go")
            let left = try #require(try scene.lines(of: "left").first)
            try #require(
                try await Shell.run("timeout 120 sh -c 'while kill -0 \(left) 2>/dev/null; do :; done'") == 0)
            scene.clock.advance(by: .seconds(10))
            #expect(try await scene.end(of: run).state == .completed)
            #expect(try scene.lines(of: "again") == ["2"])
        }
    }
}
