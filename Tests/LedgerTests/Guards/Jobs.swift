import Ledger
import Testing
import Timeline
import Tracking

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

@Suite struct `the watermark` {
    @Test(arguments: LedgerBackend.available)
    func `is moved only from where it stands`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let first = Watermark(decidedUntil: at(0), era: 0)
            let second = Watermark(decidedUntil: at(60), era: 0)
            #expect(try await ledger.watermark() == nil)
            try await ledger.commit([.moveWatermark(from: first, to: first)])
            try await ledger.commit([.moveWatermark(from: first, to: second)])
            await expectFenced(ledger, [.moveWatermark(from: first, to: second)])
            let otherEra = Watermark(decidedUntil: at(60), era: 1)
            await expectFenced(ledger, [.moveWatermark(from: otherEra, to: second)])
            #expect(try await ledger.watermark() == second)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `fences the runs of a second decider`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let start = Watermark(decidedUntil: at(0), era: 0)
            let end = Watermark(decidedUntil: at(60), era: 0)
            try await ledger.commit([.moveWatermark(from: start, to: start)])
            try await ledger.commit([.run("r1", slot: 30), .moveWatermark(from: start, to: end)])
            await expectFenced(
                ledger, at: 1, [.run("r2", job: "other", slot: 30), .moveWatermark(from: start, to: end)])
            #expect(try await ledger.run(id: "r2") == nil)
        }
    }
}

@Suite struct `slots that did not run` {
    private func span(
        _ first: Double, _ last: Double, count: Int = 1, job: String = "backup", era: Int = 0,
        reason: RunReason = .overlap
    ) -> SlotSpan {
        SlotSpan(
            job: job, era: era, first: at(first), last: at(last), count: count, state: .skipped,
            reason: reason)
    }

    @Test(arguments: LedgerBackend.available)
    func `join the span they follow`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            try await ledger.commit([.recordSpan(span(120, 180, count: 2), follows: at(60))])
            #expect(try await ledger.spans(of: "backup", limit: 10) == [span(60, 180, count: 3)])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `begin a new span when reason, state, era, job or neighbour differ`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var missed = span(300, 300)
            missed.state = .missed
            let others = [
                span(120, 120, reason: .paused), span(180, 180, era: 1), span(60, 60, job: "other"), missed,
            ]
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            for other in others { try await ledger.commit([.recordSpan(other, follows: at(60))]) }
            try await ledger.commit([.recordSpan(span(420, 420), follows: at(360))])
            let expected = [others[1], span(420, 420), missed, others[0], span(60, 60)]
            #expect(try await ledger.spans(of: "backup", limit: 10) == expected)
            #expect(try await ledger.spans(of: "backup", limit: 2) == Array(expected.prefix(2)))
            #expect(try await ledger.spans(of: "other", limit: 10) == [others[2]])
            #expect(try await ledger.spans(of: nil, limit: 10).count == 6)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `are listed by their last slot, newest first`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let others = (1...5).map { span(Double(60 * $0), Double(60 * $0), job: "job-\($0)") }
            try await ledger.commit([.recordSpan(span(30, 30, reason: .paused), follows: nil)])
            try await ledger.commit(others.map { .recordSpan($0, follows: nil) })
            // A long pause is one span, and its newest slot is the newest of all.
            try await ledger.commit([
                .recordSpan(span(90, 390, count: 6, reason: .paused), follows: at(30))
            ])
            let pause = span(30, 390, count: 7, reason: .paused)
            #expect(try await ledger.spans(of: nil, limit: 2) == [pause, others[4]])
            #expect(try await ledger.spans(of: "backup", limit: 2) == [pause])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `are recorded once`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.recordSpan(span(60, 120, count: 2), follows: nil)])
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            #expect(try await ledger.spans(of: nil, limit: 10) == [span(60, 120, count: 2)])
        }
    }
}
