import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the job commands` {
    @Test func `lead a job from its creation to its removal`() async throws {
        let belfry = try await Belfry.start()
        let added = try await belfry.run(
            "job", "add", "mine", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--timeout", "2h", "--",
            "echo", "hello")
        #expect(added.code == 0)
        var job = try await belfry.json("job", "show", "mine")
        #expect(job["origin"].text == "cli")
        #expect(job["kind"].text == "command")
        #expect(job["command"].list.compactMap(\.text) == ["echo", "hello"])
        #expect(job["schedule"]["text"].text == "30 2 * * *")
        #expect(job["schedule"]["zone"].text == "Europe/Berlin")
        #expect(job["policies"]["timeoutMs"].integer == 7_200_000)
        #expect(job["revision"].integer == 1)
        // The machine of the tests is in UTC, the job is not: its times bear its own offset.
        let berlin = try #require(job["nextAt"].text)
        #expect(berlin.contains("T02:30:00+0"), "\(berlin)")
        let offset = "+\(berlin.suffix(5))"
        for words in [["job", "show", "mine"], ["job", "list"]] {
            let shown = try await belfry.run("belfry", words).text
            #expect(shown.contains("02:30:00\(offset)"), "\(shown)")
        }
        #expect(added.text.contains("02:30:00\(offset)"))

        #expect(try await belfry.run("job", "edit", "mine", "--cron", "0 3 1 1 *", "--zone", "UTC").code == 0)
        job = try await belfry.json("job", "show", "mine")
        #expect(job["revision"].integer == 2)
        #expect(job["schedule"]["text"].text == "0 3 1 1 *")
        #expect(job["command"].list.compactMap(\.text) == ["echo", "hello"])

        let next = try await belfry.json("job", "next", "mine", "-n", "3").list.map { try moment($0) }
        #expect(next.count == 3)
        #expect(next == next.sorted())
        #expect(try moment(job["nextAt"]) == next.first)

        #expect(try await belfry.json("job", "list").list.map { $0["name"].text } == ["mine"])
        #expect(try await belfry.run("job", "rm", "mine").code == 0)
        #expect(try await belfry.json("job", "list").list.isEmpty)
        #expect(try await belfry.run("job", "show", "mine").code == 4)
    }

    @Test func `pause and resume a job, with a note`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              tick: { schedule: "* * * * * *", command: ["true"] }
            """)
        let events = try belfry.events()
        #expect(try await belfry.run("job", "pause", "tick", "--note", "holidays").code == 0)
        let paused = try await belfry.json("job", "show", "tick")
        #expect(paused["paused"]["note"].text == "holidays")
        #expect(paused["nextAt"] == nil)
        // On a busy machine some were skipped because the one before was still at it.
        _ = try await events.next { $0["type"].text == "run.skipped" && $0["reason"].text == "paused" }
        #expect(try await belfry.run("job", "resume", "tick").code == 0)
        #expect(try await belfry.json("job", "show", "tick")["paused"] == .null)
        _ = try await events.event("run.completed", of: "tick")
        let rows = try await belfry.json("job", "history", "tick").list
        let skipped = try #require(rows.first { $0["reason"].text == "paused" })
        #expect(skipped["state"].text == "skipped")
        #expect(try #require(skipped["count"].integer) >= 1)
        #expect(skipped["lastSlot"] != nil)
    }

    @Test func `run at the times of all their schedules, and once where these coincide`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              tick:
                schedule: [ "* * * * * *", { every: 1s }, { cron: "*/2 * * * * *", zone: Asia/Tokyo } ]
                overlap: allow
                command: ["true"]
            """)
        let events = try belfry.events()
        for _ in 1...3 { _ = try await events.event("run.completed", of: "tick") }
        try await belfry.restart()
        // From the first on; the daemon before the restart may have run four or five.
        let later = try belfry.events()
        for _ in 1...7 { _ = try await later.event("run.completed", of: "tick") }
        let slots = try await belfry.json("runs", "tick").list.compactMap { $0["slot"].text }
        #expect(slots.count >= 7 && Set(slots).count == slots.count, "\(slots)")
        let job = try await belfry.json("job", "show", "tick")
        #expect(job["schedule"]["kind"].text == "several")
        #expect(job["schedule"]["members"].list.compactMap { $0["zone"].text }.last == "Asia/Tokyo")
    }

    @Test func `survive a restart of the daemon`() async throws {
        let belfry = try await Belfry.start()
        try await belfry.run("job", "add", "kept", "--shell", "exit 3", "--bot", "ops")
        try await belfry.run("job", "pause", "kept")
        try await belfry.restart()
        let job = try await belfry.json("job", "show", "kept")
        #expect(job["bot"].text == "ops")
        #expect(job["shell"].text == "exit 3")
        #expect(job["paused"]["since"] != nil)
    }

    @Test func `leave jobs of a file to the file, and name the line`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              theirs: { schedule: "0 0 * * *", command: ["true"] }
            """)
        for words in [["edit", "theirs", "--cron", "1 1 * * *"], ["rm", "theirs"]] {
            let answer = try await belfry.run("belfry", ["job"] + words)
            #expect(answer.code == 5)
            #expect(answer.errors.contains("\(belfry.configPath):3"))
        }
        #expect(try await belfry.json("job", "show", "theirs")["at"].text == "\(belfry.configPath):3")
        // Pause is state, not configuration.
        #expect(try await belfry.run("job", "pause", "theirs").code == 0)
    }

    @Test(arguments: [
        (["bad name", "--", "true"], "name"), (["show", "--", "true"], "show"),
        (["j", "--cron", "0 25 * * *", "--", "true"], "25"),
        (["j", "--cron", "0 2 * * *", "--zone", "Mars/Olympus", "--", "true"], "Mars/Olympus"),
        (["j", "--zone", "UTC", "--", "true"], "--cron"), (["j"], "--shell"),
        (["j", "--shell", "true", "--", "true"], "--shell"),
    ])
    func `refuse what makes no job`(words: [String], naming: String) async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.run("belfry", ["job", "add"] + words)
        #expect(answer.code == 2)
        #expect(answer.errors.contains(naming))
        #expect(try await belfry.json("job", "list").list.isEmpty)
    }
}
