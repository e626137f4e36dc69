import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the jobs that a file takes over` {
    /// What distinguishes two jobs: not who made them, nor what happened to them.
    private static let own: Set<String> = ["origin", "at", "revision", "nextAt", "lastRun", "paused"]

    private func shown(_ belfry: Belfry) async throws -> [String: JSON] {
        var shown: [String: JSON] = [:]
        for job in try await belfry.json("job", "list").list {
            guard let name = job["name"]?.text else { continue }
            shown[name] = .object(job.members.filter { !Self.own.contains($0.key) })
        }
        return shown
    }

    @Test func `are the same there, whatever was set`() async throws {
        let belfry = try await Belfry.start("bots: { ops: { backend: { kind: command } } }")
        let jobs: [[String]] = [
            [
                "full", "--cron", "H 2 * * mon-fri", "--zone", "America/New_York", "--bot", "ops", "--env",
                "A=1",
                "--env", "B=x: \"y\" # z", "--cwd", "/tmp", "--nice", "5", "--umask", "027", "--stdin",
                "/etc/hosts", "--pty", "--overlap", "queue-one", "--catch-up", "all", "--within", "2h",
                "--burst",
                "7", "--spread", "90s", "--timeout", "1h", "--attempts", "3", "--backoff", "1m",
                "--retry-lost",
                "--leftovers", "fail", "--leftovers-wait", "5s", "--priority", "-3", "--concurrency",
                "disk=2",
                "--", "/bin/sh", "-c", "echo one\necho two", "-x", "",
            ],
            ["grid", "--every", "15m", "--shell", "set -e\ndate\n"],
            ["other", "--words", "every other friday at 5pm", "--zone", "Europe/Berlin", "--", "true"],
            ["plain", "--", "true"], ["boot", "--startup", "--", "true"],
            ["late", "--startup", "--delay", "15m", "--", "true"],
            ["poll", "--after", "30s", "--", "true"],
            ["once", "--at", "2033-01-31T08:00", "--zone", "Europe/Berlin", "--", "true"],
            ["daily", "--words", "every weekday at 9:30", "--", "true"],
        ]
        for words in jobs {
            let added = try await belfry.run("belfry", ["job", "add"] + words)
            #expect(added.code == 0, "\(added.errors)")
        }
        let before = try await shown(belfry)
        #expect(before.count == jobs.count)
        let exported = try await belfry.run("job", "export")
        #expect(exported.code == 0)
        for name in before.keys { try await belfry.run("job", "rm", name) }
        try belfry.configure("bots: { ops: { backend: { kind: command } } }\n" + exported.text)
        let check = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(
            check.code == 0 && check.text.contains("\(jobs.count) jobs"), "\(check.errors)\(exported.text)")
        #expect(try await belfry.run("reload").code == 0)
        var after = try await shown(belfry)
        // A phrase whose first day a file could not know is written as what it means.
        after["other"] = after["other"].map { job in
            var members = job.members
            var schedule = members["schedule"]?.members ?? [:]
            schedule["phrase"] = .text("every other friday at 5pm")
            members["schedule"] = .object(schedule)
            return .object(members)
        }
        for (name, job) in before { #expect(after[name] == job, "\(name)") }
        // The same again out of the file.
        let again = try await belfry.run("belfry", ["job", "export"] + before.keys.sorted())
        #expect(again.text == exported.text)
    }

    @Test func `run on a terminal where they ask for one`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              pty: { schedule: manual, shell: "test -t 1 && stty size <&1", pty: true }
              pipe: { schedule: manual, shell: "test -t 1" }
            """)
        #expect(try await belfry.run("run", "pty", "--follow").code == 0)
        #expect(try await belfry.run("run", "logs", "pty").text.hasPrefix("24 80"))
        #expect(try await belfry.run("run", "pipe", "--follow").code == 1)
    }

    @Test func `get what the options say`() async throws {
        let belfry = try await Belfry.start()
        let words = [
            "job", "add", "a", "--env", "GREETING=hello", "--cwd", "/tmp", "--nice", "7", "--umask", "077",
            "--stdin", "-", "--shell", "cat; echo $GREETING; pwd; nice; umask",
        ]
        let added = try await belfry.run("belfry", words, input: "typed\n")
        #expect(added.code == 0, "\(added.errors)")
        #expect(try await belfry.run("job", "run", "a", "--follow").code == 0)
        #expect(try await belfry.run("run", "logs", "a").lines == ["typed", "hello", "/tmp", "7", "0077"])
    }

    @Test func `are listed and removed by the names that people type`() async throws {
        let belfry = try await Belfry.start()
        for name in ["one", "two"] { try await belfry.run("job", "add", name, "--", "true") }
        let listing = try await belfry.run("job", "list").text
        #expect(try await belfry.run("jobs").text == listing)
        #expect(try await belfry.run("job", "ls").text == listing)
        #expect(try await belfry.run("job", "remove", "one").code == 0)
        #expect(try await belfry.run("job", "delete", "two").code == 0)
        #expect(try await belfry.json("jobs").list.isEmpty)
        let typo = try await belfry.run("job", "lst")
        #expect(typo.code == 2 && typo.errors.contains("Did you mean \"list\"?"), "\(typo.errors)")
    }
}
