import Delivery
import Grouping
import Host
import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a run` {
    @Test func `that does its work is started once and completes once`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.end(of: scene.queue("echo done"))
            #expect(run.state == .completed && run.exitCode == 0 && run.outputBytes == 5)
            let (started, ended) = (try #require(run.startedAt), try #require(run.endedAt))
            #expect(started <= ended && run.queueDelay != nil)
            #expect(run.process?.pid ?? 0 > 0)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
            let attempts = try await scene.ledger.attempts(of: run.id)
            #expect(attempts.map(\.state) == [.completed] && attempts.first?.exitCode == 0)
            try await scene.settled()
            #expect(!scene.census.isBusy(run.job))
            #expect(await scene.board.states().isEmpty)
        }
    }

    @Test(arguments: [
        ("exit 3", RunReason.exitCode, Int?(3), Int?.none), ("kill -SEGV $$", .signal, nil, 11),
    ])
    func `that does not is failed, with the reason`(
        command: String, reason: RunReason, code: Int?, signal: Int?
    ) async throws {
        try await RunScene.run { scene in
            let run = try await scene.end(of: scene.queue(command))
            #expect(run.state == .failed && run.reason == reason)
            #expect(run.exitCode == code && run.signal == signal)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runFailed])
            #expect(try await scene.events(of: run).last?.reason == reason.rawValue)
        }
    }

    @Test func `that failed keeps its last lines, and says why; one that completed does not`() async throws {
        try await RunScene.run { scene in
            let failed = try await scene.end(of: scene.queue("echo 'cannot lock x'; echo bye; exit 3"))
            #expect(failed.outputTail == "cannot lock x\nbye")
            #expect(try await scene.events(of: failed).last?.message == "cannot lock x")
            let done = try await scene.end(of: scene.queue("echo 'cannot lock x'"))
            #expect(done.outputTail == nil)
            #expect(try await scene.events(of: done).last?.message == nil)
            let silent = try await scene.end(of: scene.queue("exit 3"))
            #expect(silent.outputTail == nil)
            #expect(try await scene.events(of: silent).last?.message == nil)
        }
    }

    @Test func `of a job with a schedule says when it is tried next, and which limit it reached`()
        async throws
    {
        try await RunScene.run { scene in
            var spec = JobSpec.manual("nightly", "sleep 1000")
            spec.schedule = ScheduleSpec(kind: .cron, text: "0 3 * * *", zone: "Europe/Berlin")
            spec.timeout = .milliseconds(200)
            let run = try await scene.end(of: scene.queueStored(spec))
            #expect(run.state == .timedOut)
            guard case .runFailed(let end)? = try await scene.events(of: run).last?.fact else {
                Issue.record("no end")
                return
            }
            #expect(end.circumstances.limit == .milliseconds(200))
            #expect(try #require(end.circumstances.took) >= .milliseconds(200))
            let next = try #require(end.circumstances.next)
            #expect(next.words(at: run.queuedAt).hasSuffix("03:00"))
            #expect([3600, 7200].contains(next.offsetSeconds))
        }
    }

    @Test func `gets what its files hold, and shows none of it`() async throws {
        let home = try WardenHome()
        try SmallFile.replace(home.folder.file("token"), with: Array("hunter2\n".utf8))
        try await RunScene.run(in: home) { scene in
            var spec = JobSpec.manual("leak", "echo \"error: $TOKEN\"; exit 3")
            spec.secretFiles = ["TOKEN": home.folder.file("token")]
            let run = try await scene.end(of: scene.queue(spec))
            #expect(run.outputTail == "error: ***")
            #expect(try await scene.events(of: run).last?.message == "error: ***")
            spec.secretFiles = ["TOKEN": "/no/such"]
            let refused = try await scene.end(of: scene.queue(spec.with { $0.name = "refused" }))
            #expect(refused.reason == .spawnFailed)
            let message = try await scene.events(of: refused).last?.message
            #expect(message?.hasPrefix("TOKEN can't be read from /no/such: ") == true)
        }
    }

    @Test func `of a command that does not exist is failed with that reason, and never started`()
        async throws
    {
        try await RunScene.run { scene in
            let spec = JobSpec.manual("ghost").with { $0.action = .command(["/no/such/program"]) }
            let run = try await scene.end(of: scene.queue(spec))
            #expect(run.state == .failed && run.reason == .notFound && run.startedAt == nil)
            let events = try await scene.events(of: run)
            #expect(events.map(\.type) == [.runFailed])
            #expect(events.first?.message?.contains("/no/such/program") == true)
        }
    }

    @Test func `in a folder that does not exist is failed with that reason`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.end(of: scene.queue(.manual("lost").with { $0.directory = "/no/such" }))
            #expect(run.state == .failed && run.reason == .badDirectory)
        }
    }

    @Test func `whose definition nobody has is failed, and blocks nobody`() async throws {
        try await RunScene.run(limits: RunLimits(running: 1)) { scene in
            let orphan = RunRecord(
                id: freshID(), job: "gone", bot: "belfry", kind: .manual, cause: "key:1", queuedAt: .now,
                revision: 4)
            try await scene.ledger.commit([.insertRun(orphan, orIgnore: false)])
            scene.notes.add(changed: [orphan.id])
            let run = try await scene.end(of: orphan)
            #expect(run.state == .failed && run.reason == .spawnFailed)
            let said = "revision 4 of its job is not in the ledger"
            #expect(try await scene.events(of: run).first?.message == said)
            #expect(run.live?.message == said && run.live?.state == .failed)
            try await scene.left(run)
            #expect(await scene.board.states().isEmpty)
            #expect(try await scene.end(of: scene.queue("true")).state == .completed)
        }
    }

    @Test func `that runs too long is ended at its timeout`() async throws {
        try await RunScene.run { scene in
            let spec = JobSpec.manual("slow", "sleep 60").with { $0.timeout = .milliseconds(100) }
            let run = try await scene.end(of: scene.queue(spec))
            #expect(run.state == .timedOut && run.reason == .timeout)
            let events = try await scene.events(of: run)
            #expect(events.map(\.type) == [.runStarted, .runFailed])
            #expect(events.last?.reason == "timeout")
        }
    }

    @Test func `that waits while the clock is set has waited no longer, and no less, for that`()
        async throws
    {
        try await RunScene.run(limits: RunLimits(running: 1)) { scene in
            let first = try await scene.queue("mkfifo go; read line < go")
            try await scene.run(first) { $0.state == .running }
            let second = try await scene.queue("true")
            // One that is looked at after it, and ends by that.
            let third = try await scene.queue("true")
            try await scene.keeper.cancel(third.id)
            _ = try await scene.end(of: third)
            while await !scene.keeper.knowsThatWaits(second) { try Task.checkCancellation() }
            // The warden's clock does not follow: to it, the run begins an hour later.
            scene.clock.set(to: scene.clock.now - .seconds(3600))
            let go = "until [ -p go ]; do sleep 0.01; done; echo > go"
            #expect(try await Shell.run(go, in: scene.home.folder.file("work")) == 0)
            let waited = try #require(try await scene.end(of: second).queueDelay)
            #expect(waited >= .seconds(3600))
        }
    }

    @Test func `whose row somebody deleted while it waited keeps no place of its job's next one`()
        async throws
    {
        try await RunScene.run(limits: RunLimits(running: 1)) { scene in
            let first = try await scene.queue("mkfifo go; read line < go")
            try await scene.run(first) { $0.state == .running }
            let spec = JobSpec.manual("taken", "true")
            let deleted = try await scene.queue(spec)
            while await !scene.keeper.knowsThatWaits(deleted) { try Task.checkCancellation() }
            try await scene.change("DELETE FROM run WHERE id = '\(deleted.id)'")
            let go = "until [ -p go ]; do sleep 0.01; done; echo > go"
            #expect(try await Shell.run(go, in: scene.home.folder.file("work")) == 0)
            _ = try await scene.end(of: first)
            #expect(try await scene.end(of: scene.queue(spec)).state == .completed)
        }
    }

    @Test func `whose spread has passed starts, though the clock was set back since`() async throws {
        try await RunScene.run { scene in
            var run = try await scene.queueStored(.manual("spread", "true"), waiting: .seconds(7200))
            run = try await scene.end(of: run)
            #expect(run.state == .completed)
        }
    }

    @Test func `gets Belfry's variables`() async throws {
        try await RunScene.run { scene in
            let spec = JobSpec.manual(
                "env", "test \"$BELFRY_JOB/$BELFRY_RUN/$BELFRY_ATTEMPT/$OWN\" = env/env#1/1/mine"
            ).with { $0.environment = ["OWN": "mine", "BELFRY_JOB": "a lie"] }
            let run = try await scene.end(of: scene.queue(spec))
            #expect(run.state == .completed)
        }
    }

    @Test func `is executed as its own revision says`() async throws {
        try await RunScene.run { scene in
            let old = JobSpec.manual("job", "exit 7").with { $0.directory = "/" }
            let new = JobSpec.manual("job", "exit 8").with { $0.directory = "/" }
            try await scene.ledger.commit([
                .putJob(JobRecord(spec: old, origin: .cli, revision: 1, since: .now), replacing: nil),
                .putJob(JobRecord(spec: new, origin: .cli, revision: 2, since: .now), replacing: 1),
                .removeJob(name: "job", revision: 2),
            ])
            for (revision, code) in [(1, 7), (2, 8), (1, 7)] {
                let run = RunRecord(
                    id: freshID(), job: "job", bot: "belfry", kind: .manual, cause: "key:\(freshID())",
                    queuedAt: .now, revision: revision)
                try await scene.ledger.commit([.insertRun(run, orIgnore: false)])
                scene.notes.add(changed: [run.id])
                #expect(try await scene.end(of: run).exitCode == code)
            }
        }
    }
}

extension RunKeeper {
    /// Whether it knows that the run waits, and since when.
    fileprivate func knowsThatWaits(_ run: RunRecord) -> Bool { runs.queue.contains(run.id) }
}
