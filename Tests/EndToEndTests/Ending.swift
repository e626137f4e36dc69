import Glibc
import TestSupport
import Testing

/// SIGTERM, and a second daemon.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the daemon's end` {
    @Test func `waits for no stream and no run, and leaves runs to the warden`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              long: { schedule: manual, env: { GATE: \(gate.path) }, shell: 'echo up; read line < "$GATE"' }
            """, in: folder)
        try await belfry.start()
        // Streams that nobody closes must not hold it up.
        let (events, watch) = (try belfry.events(), try belfry.feed("watch"))
        try await belfry.run("run", "long")
        _ = try await events.event("run.started")
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        // Neither ends before: with them the daemon would wait for ever.
        #expect(try await belfry.stop() == 0)
        #expect(try await belfry.run("status").code == 3)
        #expect(Glibc.kill(Int32(warden), 0) == 0)

        try await belfry.start()
        #expect(try await belfry.run("status", "--wait", "60s").code == 0)
        let status = try await belfry.json("status")
        #expect(status["warden"]["pid"].integer == warden)
        #expect(status["running"].integer == 1)
        try gate.open()
        #expect(try await events.event("run.completed")["job"].text == "long")
        withExtendedLifetime(watch) {}
    }

    @Test func `does not wait for a reload that is under way`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              long: { schedule: manual, env: { GATE: \(gate.path) }, shell: 'echo up; read line < "$GATE"' }
            """, in: folder)
        try await belfry.start()
        let events = try belfry.events()
        try await belfry.run("run", "long")
        _ = try await events.event("run.started")
        let warden = Int32(try #require(try await belfry.json("status")["warden"]["pid"].integer))
        #expect(try await belfry.stop() == 0)
        // A start waits 10 s for a warden that is silent, and so does a reload behind it.
        #expect(Glibc.kill(warden, SIGSTOP) == 0)
        defer { _ = Glibc.kill(warden, SIGCONT) }
        let daemon = try belfry.launch()
        while try await belfry.run("status").code == 3 {}
        daemon.signal(SIGHUP)
        daemon.signal(SIGTERM)
        #expect(await daemon.status() == 0)
        // The warden is silent still: who waits for the reload sees the end of its wait in the log before.
        // Unless all of that took so long that the start had waited long enough.
        var isUp = false
        while let line = await daemon.line(where: { _ in true }) {
            isUp = isUp || line.contains(" started ")
            let isReload = line.contains("configuration reloaded") || line.contains("was refused")
            #expect(isUp || !isReload, "\(line)")
        }
        #expect(Glibc.kill(warden, SIGCONT) == 0)
        try gate.open()
    }

    @Test func `waits for what is under way with --drain, and starts no more`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              long: { schedule: manual, env: { GATE: \(gate.path) }, shell: 'echo up; read line < "$GATE"' }
              often: { schedule: "* * * * * *", shell: "true" }
            """, in: folder)
        try await belfry.start(["--config", belfry.configPath, "--state", belfry.statePath, "--drain"])
        let events = try belfry.events()
        try await belfry.run("run", "long")
        _ = try await events.event("run.started", of: "long")
        _ = try await events.event("run.completed", of: "often")
        let process = try belfry.process()
        process.signal(SIGTERM)
        try await belfry.logged("draining")
        let refused = try await belfry.run("run", "often")
        #expect(refused.code == 3 && refused.errors.contains("stopping"), "\(refused)")
        let problems = try await belfry.json("status")["problems"].list
        #expect(problems.contains { $0["kind"].text == "draining" })
        try gate.open()
        #expect(await process.status() == 0)

        // Nothing of it is left to wait for; a second signal would not have waited.
        try await belfry.start(["--config", belfry.configPath, "--state", belfry.statePath, "--drain"])
        #expect(try await belfry.json("run", "show", "long#1")["state"].text == "completed")
        _ = try await events.event("run.completed", of: "long")
        try await belfry.run("run", "long")
        _ = try await events.event("run.started", of: "long")
        let next = try belfry.process()
        next.signal(SIGTERM)
        try await belfry.logged("draining")
        next.signal(SIGTERM)
        #expect(await next.status() == 0)
        try await belfry.start()
        try gate.open()
        _ = try await events.event("run.completed", of: "long")
    }

    @Test func `does not let a second one near its state`() async throws {
        let belfry = try await Belfry.start()
        let pid = try #require(try await belfry.json("status")["pid"].integer)
        let second = try await belfry.run(
            "belfryd", ["--config", belfry.configPath, "--state", belfry.statePath])
        #expect(second.code == 1)
        #expect(second.bytes.isEmpty)
        #expect(
            second.errors == """
                belfryd: \(belfry.statePath) is in use by the daemon with process id \(pid)
                  hint: stop it first, or name another folder with --state

                """)
        #expect(try await belfry.json("status")["pid"].integer == pid)
    }
}
