import Ledger
import Testing
import Timeline

@Suite struct `a job in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is read as it was put`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var job = JobRecord.sample("backup")
            job.spec.environment = ["REPOSITORY": "/mnt/ü \"x\""]
            job.spec.timeout = .seconds(7200)
            job.spec.schedule.anchor = at(5)
            job.place = "belfry.yaml:12"
            try await ledger.commit([.putJob(job, replacing: nil), .putJob(.sample("a"), replacing: nil)])
            #expect(try await ledger.job(named: "backup") == job)
            #expect(try await ledger.jobs().map(\.name) == ["a", "backup"])
            #expect(try await ledger.job(named: "b") == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is found by name, or in its turn`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit(
                ["c", "a", "d", "b"].map { .putJob(.sample($0), replacing: nil) }
                    + [.removeJob(name: "c", revision: 1)])
            #expect(try await ledger.jobs(after: "", limit: 2).map(\.name) == ["a", "b"])
            #expect(try await ledger.jobs(after: "b", limit: 2).map(\.name) == ["d"])
            #expect(try await ledger.jobs(after: "aa", limit: .max).map(\.name) == ["b", "d"])
            #expect(try await ledger.jobs(after: "d", limit: 2).isEmpty)
            let named = try await ledger.jobs(named: ["d", "c", "none", "a"])
            #expect(Set(named) == [.sample("a"), .sample("d")])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is read alike when only its slots are of interest`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var grid = JobRecord.sample("grid")
            grid.spec.schedule = ScheduleSpec(kind: .every, text: "15m", zone: "UTC", anchor: at(5))
            grid.spec.schedule.made = at(7)
            grid.spec.bot = "ops \"ü\""
            grid.spec.spread = .seconds(600)
            var cron = JobRecord.sample("cron")
            cron.spec.schedule = ScheduleSpec(
                kind: .cron, text: "0 2 * * *", zone: "Europe/Berlin", gap: "skip", fold: "both")
            cron.spec.overlap = .queueOne
            cron.spec.catchUp = CatchUpPolicy(mode: .all, within: .seconds(7 * 86_400), burst: 12)
            cron.origin = .file
            cron.revision = 3
            let plain = JobRecord.sample("plain")
            var club = JobRecord.sample("club")
            club.spec.schedule = ScheduleSpec(
                kind: .calendar, text: "2w fri 17:00", zone: "Europe/Berlin", gap: "skip", fold: "last")
            club.spec.schedule.made = at(8)
            var many = JobRecord.sample("many")
            many.spec.schedule = ScheduleSpec(
                several: [club.spec.schedule, grid.spec.schedule, cron.spec.schedule], zone: "Asia/Tokyo")
            try await ledger.commit([
                .putJob(many, replacing: nil),
                .putJob(club, replacing: nil), .putJob(grid, replacing: nil), .putJob(cron, replacing: nil),
                .putJob(plain, replacing: nil),
                .pauseJob(name: "grid", Pause(since: at(9), note: "for now")),
            ])
            let jobs = try await ledger.jobs()
            #expect(jobs.map(\.name) == ["club", "cron", "grid", "many", "plain"])
            #expect(try await ledger.slotJobs(after: "", limit: .max) == jobs.map { SlotJob($0) })
            #expect(try await ledger.slotJobs(after: "cron", limit: 1).map(\.name) == ["grid"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is put only over the revision that was read`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await expectFenced(ledger, [.putJob(.sample("backup"), replacing: 1)])
            try await ledger.commit([.putJob(.sample("backup"), replacing: nil)])
            await expectFenced(ledger, [.putJob(.sample("backup", revision: 2), replacing: nil)])
            try await ledger.commit([.putJob(.sample("backup", revision: 2, command: "b"), replacing: 1)])
            await expectFenced(ledger, [.putJob(.sample("backup", revision: 3), replacing: 1)])
            #expect(try await ledger.job(named: "backup")?.revision == 2)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps every revision's spec, also after its removal`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .putJob(.sample("backup", command: "one"), replacing: nil),
                .putJob(.sample("backup", revision: 2, command: "two"), replacing: 1),
                .removeJob(name: "backup", revision: 2),
            ])
            #expect(try await ledger.job(named: "backup") == nil)
            #expect(try await ledger.spec(of: "backup", revision: 1) == .sample("backup", command: "one"))
            #expect(try await ledger.spec(of: "backup", revision: 2) == .sample("backup", command: "two"))
            #expect(try await ledger.spec(of: "backup", revision: 3) == nil)
            #expect(try await ledger.lastRevision(of: "backup") == 2)
            #expect(try await ledger.lastRevision(of: "other") == 0)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `never changes what a revision was`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .putJob(.sample("backup", command: "one"), replacing: nil),
                .removeJob(name: "backup", revision: 1),
            ])
            await expectFenced(ledger, [.putJob(.sample("backup", command: "two"), replacing: nil)])
            try await ledger.commit([.putJob(.sample("backup", revision: 2, command: "two"), replacing: nil)])
            await expectFenced(ledger, [.putJob(.sample("backup", revision: 2, command: "x"), replacing: 2)])
            var moved = JobRecord.sample("backup", revision: 2, command: "two")
            moved.place = "jobs.yaml:9"
            try await ledger.commit([.putJob(moved, replacing: 2)])
            #expect(try await ledger.job(named: "backup") == moved)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is removed only at the revision that was read`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await expectFenced(ledger, [.removeJob(name: "backup", revision: 1)])
            try await ledger.commit([.putJob(.sample("backup"), replacing: nil)])
            await expectFenced(ledger, [.removeJob(name: "backup", revision: 2)])
            try await ledger.commit([.removeJob(name: "backup", revision: 1)])
            await expectFenced(ledger, [.removeJob(name: "backup", revision: 1)])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is paused and resumed, and an edit keeps the pause`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let pause = Pause(since: at(3), note: "disk is being changed")
            await expectFenced(ledger, [.pauseJob(name: "backup", pause)])
            try await ledger.commit([
                .putJob(.sample("backup"), replacing: nil), .pauseJob(name: "backup", pause),
                .putJob(.sample("backup", revision: 2), replacing: 1),
            ])
            #expect(try await ledger.job(named: "backup")?.pause == pause)
            try await ledger.commit([.pauseJob(name: "backup", nil)])
            #expect(try await ledger.job(named: "backup")?.pause == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `stands beside small named facts`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            #expect(try await ledger.fact(named: "zone") == nil)
            try await ledger.commit([.setFact(name: "zone", value: "Europe/Berlin")])
            try await ledger.commit([.setFact(name: "zone", value: "UTC")])
            #expect(try await ledger.fact(named: "zone") == "UTC")
            try await ledger.commit([.setFact(name: "zone", value: nil), .setFact(name: "x", value: nil)])
            #expect(try await ledger.fact(named: "zone") == nil)
        }
    }
}
