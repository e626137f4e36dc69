import Host
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the run commands` {
    private let jobs = """
        jobs:
          good: { schedule: manual, shell: "echo fine" }
          seven: { schedule: manual, shell: "exit 7" }
          gone: { schedule: manual, command: [/nowhere/at/all] }
          plain: { schedule: manual, command: [/etc/passwd] }
          signalled: { schedule: manual, shell: "kill -TERM $$" }
          slow: { schedule: manual, shell: "sleep 1000", timeout: 300ms, grace: 60s }
        """

    @Test(
        arguments: [
            ("good", 0), ("seven", 7), ("gone", 127), ("plain", 126), ("signalled", 143), ("slow", 124),
        ] as [(String, Int32)])
    func `follow a job and return its code`(job: String, code: Int32) async throws {
        let belfry = try await Belfry.start(jobs)
        #expect(try await belfry.run("run", job, "--follow").code == code)
        let run = try await belfry.json("run", "show", "\(job)#1")
        let expected = [
            "good": ["completed", nil], "seven": ["failed", "exitCode"], "gone": ["failed", "notFound"],
            "plain": ["failed", "notExecutable"], "signalled": ["failed", "signal"],
            "slow": ["timedOut", "timeout"],
        ]
        #expect([run["state"].text, run["reason"].text] == expected[job])
        if job == "signalled" { #expect(run["signal"].integer == 15) }
    }

    @Test func `pause a run, keep it so over the daemon's death, and resume it`() async throws {
        let belfry = try await Belfry.start(
            "jobs: { long: { schedule: manual, shell: \"while :; do sleep 0.05; done\", cwd: /tmp } }")
        let events = try belfry.events()
        try await belfry.run("run", "long")
        _ = try await events.event("run.started", of: "long")
        let paused = try await belfry.run("run", "pause", "long")
        #expect(
            paused.code == 0 && paused.text == "long#1 is paused. Continue it: belfry run resume long#1\n")
        #expect(try await belfry.json("run", "show", "long")["state"].text == "paused")
        try await belfry.restart()
        #expect(try await belfry.run("status", "--wait", "60s").code == 0)
        #expect(try await belfry.json("run", "show", "long")["state"].text == "paused")
        let resumed = try await belfry.run("run", "resume", "long#1")
        #expect(resumed.code == 0 && resumed.text == "long#1 is running.\n")
        #expect(try await belfry.run("run", "cancel", "long").code == 0)
        let ghost = try await belfry.run("run", "pause", "long#7")
        #expect(ghost.code == 4)
    }

    @Test func `show a run that waits for its delay after the boot, and how long it waited`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              far: { schedule: { startup: true, delay: 1h }, shell: "echo fine" }
              near: { schedule: { startup: true, delay: 1s }, shell: "echo fine" }
            """)
        _ = try await belfry.events().event("run.completed", of: "near")
        let waited = try await belfry.run("run", "show", "near#1").lines.first { $0.hasPrefix("waited") }
        #expect(waited?.hasSuffix(" s") == true, "\(waited ?? "")")
        let far = try await belfry.run("run", "show", "far").lines
        #expect(far.contains("state     scheduled: waits for its start delay"), "\(far)")
        #expect(try await belfry.json("run", "show", "far#1")["notBefore"].text != nil)
    }

    @Test func `show why a run ended as it did`() async throws {
        let belfry = try await Belfry.start(
            jobs
                + "\n  deaf: { schedule: manual, shell: \"trap '' TERM; sleep 1000\", timeout: 10s, grace: 1s }"
        )
        func why(_ run: String) async throws -> String? {
            try await belfry.run("run", "show", run).lines.first { $0.hasPrefix("why") }
        }
        let followed = try await belfry.run("run", "seven", "--follow")
        #expect(followed.text.contains(/seven#1 failed after (<1|\d+) s: exit code 7/))
        #expect(try await why("seven#1") == nil)
        try await belfry.run("run", "slow", "--follow")
        let slow = try await why("slow#1")
        #expect(slow?.contains("stopped at its limit of 300 ms") == true)
        #expect(slow?.hasSuffix("SIGTERM ended it") == true)
        #expect(try await belfry.json("run", "show", "slow#1")["timeoutMs"].integer == 300)
        try await belfry.run("run", "deaf", "--follow")
        #expect(
            try await why("deaf#1")
                == "why       stopped at its limit of 10 s; SIGTERM did not end it within 1 s, SIGKILL did")
        try await belfry.run("run", "good", "--follow")
        #expect(try await why("good#1") == nil)
    }

    @Test func `name what a run left behind, and no memory that nobody measured`() async throws {
        let belfry = try await Belfry.start(
            jobs
                + "\n  messy: { schedule: manual, shell: \"sleep 1000 & "
                + "until grep -q sleep /proc/$!/comm; do :; done; echo done\" }")
        try await belfry.run("run", "messy", "--follow")
        let messy = try await belfry.json("run", "show", "messy#1")
        #expect(messy["state"].text == "completed")
        let left = try #require(messy["survivors"].list.first)
        #expect(messy["survivors"].list.count == 1 && left["name"].text == "sleep")
        let pid = try #require(left["pid"].integer)
        let shown = try await belfry.run("run", "show", "messy#1").lines
        #expect(shown.contains("left      sleep (\(pid)) still ran at its end"))
        #expect(try await Shell.run("kill \(pid)") == 0)

        try await belfry.run("run", "good", "--follow")
        let good = try await belfry.json("run", "show", "good#1")
        // The shell is smaller than its warden, whose own size is no answer.
        #expect(good["survivors"] == nil && good["maxRssKb"] == nil && good["cpuMs"] != nil)
    }

    @Test func `show why a job could not be started`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              gone: { schedule: manual, command: [no-such-program-anywhere] }
              nowhere: { schedule: manual, command: ["true"], cwd: /no/such/folder }
              nobody: { schedule: manual, command: ["true"], user: nosuch }
            """)
        #expect(try await belfry.run("run", "gone", "--follow").code == 127)
        #expect(try await belfry.json("run", "show", "gone#1")["reason"].text == "notFound")
        #expect(try await belfry.run("watch", "gone#1").code == 127)
        #expect(try await belfry.run("run", "nowhere", "--follow").code == 125)
        #expect(try await belfry.json("run", "show", "nowhere#1")["reason"].text == "badDirectory")
        #expect(try await belfry.run("run", "nobody", "--follow").code == 125)
        let nobody = try await belfry.json("run", "show", "nobody#1")
        #expect(nobody["reason"].text == "badUser")
        #expect(nobody["live"]["message"].text == "this machine has no user \"nosuch\"")
        for (run, why) in [
            ("nowhere#1", "/no/such/folder: No such file or directory"),
            ("nobody#1", "this machine has no user \"nosuch\""),
        ] {
            #expect(try await belfry.run("run", "show", run).lines.contains { $0.hasSuffix(why) })
        }
    }

    @Test func `show why another attempt could not be started, and how the first one ended`() async throws {
        let folder = try TemporaryFolder()
        let work = folder.file("work")
        try PrivateFolder.make(work)
        let belfry = try await Belfry.start(
            """
            jobs:
              once:
                schedule: manual
                cwd: \(work)
                shell: rmdir \(work); exit 3
                retry: { attempts: 3, backoff: 1s }
            """)
        #expect(try await belfry.run("run", "once", "--follow").code == 125)
        let shown = try await belfry.run("run", "show", "once#1").lines
        #expect(shown.contains("state     failed: could not enter its directory"))
        #expect(shown.contains("why       \(work): No such file or directory"))
        #expect(shown.contains { $0.hasPrefix("attempt 1 failed: exit code 3, ") })
        #expect(shown.contains { $0.hasPrefix("attempt 2 failed: could not enter its directory, ") })
    }

    @Test func `end a running job with all its processes`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              tree:
                schedule: manual
                env: { GATE: \(gate.path) }
                # The inner shell and the sleeper go with the outer one.
                shell: sh -c 'sleep 1000 & echo up; read line < "$GATE"' & wait
            """, in: folder)
        try await belfry.start()
        let events = try belfry.events()
        try await belfry.run("run", "tree")
        _ = try await events.event("run.started")
        #expect(try await belfry.run("run", "cancel", "tree#1").code == 0)
        _ = try await events.event("run.canceled")
        let run = try await belfry.json("run", "show", "tree#1")
        #expect(run["state"].text == "canceled")
        try await belfry.until { try await belfry.json("status")["warden"]["runs"].integer == 0 }
        try await belfry.until { Household.members(of: folder.path, named: "sleep").isEmpty }
        // It has ended: there is nothing left to cancel.
        #expect(try await belfry.run("run", "cancel", "tree#1").code == 5)
    }

    /// A daemon with a job `wait` that runs until the gate opens.
    private func waiting(then end: String = "exit 0") async throws -> (belfry: Belfry, gate: Gate) {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              wait: { schedule: manual, env: { GATE: \(gate.path) }, shell: 'read line < "$GATE"; \(end)' }
            """, in: folder)
        try await belfry.start()
        return (belfry, gate)
    }

    @Test func `take back a run that waits`() async throws {
        let (belfry, gate) = try await waiting()
        defer { withExtendedLifetime(gate) {} }
        // More than may run at once: the last one waits.
        for _ in 1...65 { try await belfry.run("run", "wait", "--force") }
        let queued = try #require(
            try await belfry.json("runs", "--state", "queued").list.first?["name"].text)
        #expect(try await belfry.run("run", "cancel", queued).code == 0)
        let run = try await belfry.json("run", "show", queued)
        #expect(run["state"].text == "canceled")
        #expect(run["startedAt"] == nil)
    }

    @Test func `repeat an ended run, and no other`() async throws {
        let (belfry, gate) = try await waiting(then: "exit 1")
        let events = try belfry.events()
        try await belfry.run("run", "wait")
        _ = try await events.event("run.started")
        #expect(try await belfry.run("run", "retry", "wait#1").code == 5)
        try gate.open()
        _ = try await events.event("run.failed")
        let again = try await belfry.json("run", "retry", "wait#1")
        #expect(again["name"].text == "wait#2")
        #expect(try await again["retryOf"] == belfry.json("run", "show", "wait#1")["id"])
    }

    @Test func `refuse a second run of a busy job, unless forced; a key makes one run`() async throws {
        let (belfry, gate) = try await waiting()
        defer { withExtendedLifetime(gate) {} }
        let first = try await belfry.json("run", "wait", "--key", "nightly")
        let same = try await belfry.json("run", "wait", "--key", "nightly")
        #expect(first["id"] == same["id"])
        #expect(first["cause"].text == "key:nightly")
        let busy = try await belfry.run("run", "wait")
        #expect(busy.code == 5)
        #expect(busy.errors.contains("wait"))
        #expect(try await belfry.json("run", "wait", "--force")["name"].text == "wait#2")
        #expect(try await belfry.json("runs").list.map { $0["name"].text } == ["wait#2", "wait#1"])
        #expect(try await belfry.json("runs", "wait", "--limit", "1").list.count == 1)
    }
}
