import Glibc
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `runs of a job that is at work` {
    private func start(_ policy: String, in folder: TemporaryFolder, _ gate: Gate) async throws -> Belfry {
        let belfry = try Belfry(
            """
            jobs:
              wait:
                schedule: manual
                overlap: \(policy)
                env: { GATE: \(gate.path) }
                shell: 'read line < "$GATE"'
            """, in: folder)
        try await belfry.start()
        return belfry
    }

    @Test func `wait for its end, the newest alone, with queue-one`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try await start("queue-one", in: folder, gate)
        let events = try belfry.events()
        try await belfry.run("run", "wait")
        _ = try await events.event("run.started")
        for _ in 2...3 { #expect(try await belfry.run("run", "wait").code == 0) }
        let runs = try await belfry.json("runs", "wait").list
        #expect(runs.map { $0["name"].text } == ["wait#3", "wait#2", "wait#1"])
        #expect(runs.map { $0["state"].text } == ["queued", "skipped", "running"])
        #expect(runs[1]["reason"].text == "superseded")
        #expect(try await events.event("run.skipped")["run"] == runs[1]["id"])
        for number in [1, 3] {
            try gate.open()
            let ended = try await events.event("run.completed")
            #expect(try await ended["run"] == belfry.json("run", "show", "wait#\(number)")["id"])
        }
    }

    @Test func `take its place with replace`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try await start("replace", in: folder, gate)
        let events = try belfry.events()
        try await belfry.run("run", "wait")
        _ = try await events.event("run.started")
        try await belfry.run("run", "wait")
        _ = try await events.event("run.canceled")
        let first = try await belfry.json("run", "show", "wait#1")
        #expect(first["state"].text == "canceled" && first["reason"].text == "replaced")
        _ = try await events.event("run.started")
        try gate.open()
        _ = try await events.event("run.completed")
        #expect(try await belfry.json("run", "show", "wait#2")["state"].text == "completed")
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a run that fails and may be tried again` {
    @Test func `is followed to its last attempt, and reported once`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              flaky:
                schedule: manual
                retry: { attempts: 3, backoff: 20ms }
                shell: 'echo try $BELFRY_ATTEMPT; [ $BELFRY_ATTEMPT = 3 ]'
              broken: { schedule: manual, retry: { attempts: 2, backoff: 20ms }, shell: 'exit 4' }
              missing: { schedule: manual, retry: { attempts: 5, backoff: 1h }, command: [/no/such/file] }
            """)
        let events = try belfry.events()
        #expect(try await belfry.run("run", "flaky", "--follow").code == 0)
        #expect(try await belfry.run("run", "broken", "--follow").code == 4)
        #expect(try await belfry.run("run", "missing", "--follow").code == 127)
        let run = try await belfry.json("run", "show", "flaky#1")
        #expect(run["attempt"].integer == 3)
        #expect(run["attempts"].list.map { $0["state"].text } == ["failed", "failed", "completed"])
        #expect(run["attempts"].list.map { $0["exitCode"].integer } == [1, 1, 0])
        #expect(try await belfry.run("run", "logs", "flaky#1").text == "try 3\n")
        #expect(try await belfry.json("run", "show", "missing#1")["attempt"].integer == 1)
        try await belfry.run("run", "broken", "--key", "last")
        var types: [String] = []
        for _ in 0..<7 { types.append(try await events.next { _ in true }["type"].text ?? "") }
        #expect(
            types == [
                "run.started", "run.completed", "run.started", "run.failed", "run.failed", "run.started",
                "run.failed",
            ])
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a run that is cancelled while no warden answers` {
    @Test func `is ended by the next daemon, though the one that was asked was killed`() async throws {
        let belfry = try await Belfry.start("jobs: { long: { schedule: manual, shell: 'exec sleep 1000' } }")
        let events = try belfry.events()
        try await belfry.run("run", "long")
        _ = try await events.event("run.started")
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        kill(pid_t(warden), SIGSTOP)
        #expect(try await belfry.run("run", "cancel", "long#1").code == 0)
        try await belfry.kill()
        kill(pid_t(warden), SIGCONT)
        try await belfry.start()
        let ended = try await belfry.events().event("run.canceled")
        #expect(try await ended["run"] == belfry.json("run", "show", "long#1")["id"])
        #expect(try await belfry.json("run", "show", "long#1")["state"].text == "canceled")
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job made with rules for its turns` {
    @Test func `has them, and loses them by an edit`() async throws {
        let belfry = try await Belfry.start()
        let added = try await belfry.json(
            "job", "add", "fetch", "--cron", "@hourly", "--overlap", "queue-all", "--attempts", "3",
            "--backoff", "1m", "--retry-lost", "--leftovers", "fail", "--leftovers-wait", "5m", "--priority",
            "5",
            "--concurrency", "disk=2", "--shell", "true"
        )
        let policies = added["policies"]
        #expect(policies["overlap"].text == "queue-all" && policies["attempts"].integer == 3)
        #expect(
            policies["leftovers"]["then"].text == "fail" && policies["leftovers"]["waitMs"].integer == 300_000
        )
        #expect(policies["onLost"] == .bool(true) && policies["backoffMs"].integer == 60_000)
        #expect(policies["priority"].integer == 5)
        #expect(policies["concurrency"]["key"].text == "disk" && policies["concurrency"]["max"].integer == 2)
        let edited = try await belfry.json(
            "job", "edit", "fetch", "--no-retry-lost", "--priority", "0", "--concurrency", "")["policies"]
        #expect(edited["onLost"] == .bool(false) && edited["concurrency"] == nil)
        #expect(edited["overlap"].text == "queue-all" && edited["attempts"].integer == 3)
        for (flag, value) in [
            ("--overlap", "never"), ("--attempts", "0"), ("--priority", "101"), ("--concurrency", "a=0"),
        ] {
            #expect(try await belfry.run("job", "edit", "fetch", flag, value).code == 2)
        }
    }
}
