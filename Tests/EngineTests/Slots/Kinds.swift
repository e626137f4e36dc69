import Cron
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a job on a grid` {
    @Test func `counts from the making of its schedule, and an edit of something else moves nothing`()
        async throws
    {
        try await SlotScene.run(at: at("10:00:07.25")) { scene in
            let spec = JobSpec.timed("grid", .every, "15m")
            try await scene.put(spec)
            try await scene.sleeps(until: at("10:15:07"))
            scene.clock.advance(to: at("10:09:00"))
            try await scene.put(spec.with { $0.timeout = .seconds(5) })
            let entry = try #require(try await scene.keeper.entry("grid"))
            #expect(entry.record.revision == 2 && entry.next == at("10:15:07"))
            try await scene.put(.timed("grid", .every, "20m"))
            #expect(try await scene.keeper.entry("grid")?.next == at("10:29:00"))
        }
    }

    @Test func `has the same grid after a restart, late or not`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.timed("grid", .every, "15m"))
        }
        try await SlotScene.run(in: folder, at: at("10:46:10")) { scene in
            try await scene.sleeps(until: at("11:00:00"))
            #expect(try await scene.slots(of: "grid") == [at("10:45:00")])
            #expect(try await scene.spans(of: "grid") == ["skipped superseded 10:15:00-10:30:00 x2"])
        }
    }

    @Test func `that was made while the clock was years ahead runs once it is right again`() async throws {
        let folder = try TemporaryFolder()
        let wrong = try Moment(iso8601: "2098-01-01T00:00:30Z")
        try await SlotScene.run(in: folder, at: wrong) { scene in
            try await scene.put(.timed("grid", .every, "15m"))
            #expect(try await scene.keeper.entry("grid")?.next == wrong + .seconds(900))
            scene.clock.set(to: at("10:00:00"))
            try await scene.settled()
            #expect(try await scene.keeper.entry("grid")?.next == at("10:00:30"))
        }
        try await SlotScene.run(in: folder, at: at("10:07:00")) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "grid") == [at("10:00:30")])
            let entry = try #require(try await scene.keeper.entry("grid"))
            #expect(entry.next == at("10:15:30"))
            // What people read counts from a moment that has been.
            #expect(entry.schedule == .every(.seconds(900), anchor: at("10:00:30")))
        }
    }

    @Test func `begins in the future where somebody wrote that`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            var spec = JobSpec.timed("grid", .every, "1h")
            spec.schedule.anchor = at("12:20:00")
            try await scene.put(spec)
            #expect(try await scene.keeper.entry("grid")?.next == at("12:20:00"))
        }
    }

    @Test func `begins at the given moment`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            var spec = JobSpec.timed("grid", .every, "1h")
            spec.schedule.anchor = at("07:20:00")
            try await scene.put(spec)
            #expect(try await scene.keeper.entry("grid")?.next == at("10:20:00"))
        }
    }

    @Test func `is put again by a reload without a new revision`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            for time in ["10:00:00", "10:05:00"] {
                scene.clock.advance(to: at(time))
                let records = try await scene.keeper.change([
                    .put(.timed("grid", .every, "15m"), origin: .file, place: "f:1")
                ])
                #expect(records.first?.revision == 1)
            }
            #expect(try await scene.keeper.entry("grid")?.next == at("10:15:00"))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a job that counts days or weeks` {
    /// 17:00 in Berlin every other Friday: 16:00 UTC in winter, 15:00 in summer.
    private func fortnight(_ text: String = "2w fri 17:00 from 2026-11-27") -> JobSpec {
        var spec = JobSpec.timed("club", .calendar, text)
        spec.schedule.zone = "Europe/Berlin"
        return spec
    }

    @Test func `keeps its time of day through clock changes and restarts`() async throws {
        let folder = try TemporaryFolder()
        let zone = try SystemZones.zone("Europe/Berlin")
        func time(_ text: String) throws -> Moment { try Moment(iso8601: text, in: zone) }
        try await SlotScene.run(in: folder, at: try time("2026-11-22T12:00")) { scene in
            try await scene.put(fortnight())
            #expect(try await scene.keeper.entry("club")?.next == time("2026-11-27T17:00"))
        }
        try await SlotScene.run(in: folder, at: try time("2027-03-20T12:00")) { scene in
            try await scene.settled()
            #expect(try await scene.keeper.entry("club")?.next == time("2027-04-02T17:00"))
        }
    }

    @Test
    func `counts from its making where no first day is written, and an edit of something else moves nothing`()
        async throws
    {
        let folder = try TemporaryFolder()
        let zone = try SystemZones.zone("Europe/Berlin")
        func time(_ text: String) throws -> Moment { try Moment(iso8601: text, in: zone) }
        try await SlotScene.run(in: folder, at: try time("2026-11-22T12:00")) { scene in
            try await scene.put(fortnight("2w fri 17:00"))
            #expect(try await scene.keeper.entry("club")?.next == time("2026-11-27T17:00"))
        }
        // A week later another Friday is the next one, and not one of the job's.
        try await SlotScene.run(in: folder, at: try time("2026-11-29T12:00")) { scene in
            try await scene.settled()
            try await scene.put(fortnight("2w fri 17:00").with { $0.timeout = .seconds(5) })
            let entry = try #require(try await scene.keeper.entry("club"))
            #expect(try entry.record.revision == 2 && entry.next == time("2026-12-11T17:00"))
            #expect(entry.schedule.text == "calendar zone=Europe/Berlin 2w fri 17:00 from 2026-11-27")
        }
    }

    @Test func `that was made while the clock was years ahead runs once it is right again`() async throws {
        try await SlotScene.run(at: try Moment(iso8601: "2098-01-01T00:00:30Z")) { scene in
            try await scene.put(fortnight("2w fri 17:00"))
            scene.clock.set(to: at("10:00:00"))
            try await scene.settled()
            let next = try #require(try await scene.keeper.entry("club")?.next)
            #expect(next - at("10:00:00") <= .seconds(14 * 86_400))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a job that runs after its last end` {
    @Test func `runs at once, then so long after each end, by the run before`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("poll", .after, "30s"))
            try await scene.settled()
            let first = try await scene.newest("poll")
            #expect(first.cause == "after:start-1" && first.state == .queued)
            scene.clock.advance(to: at("10:05:00"))
            try await scene.settled()
            #expect(try await scene.ledger.runs(RunFilter(job: "poll")).count == 1)
            try await scene.end(first)
            try await scene.sleeps(until: at("10:05:30"))
            scene.clock.advance(to: at("10:05:30"))
            try await scene.settled()
            let second = try await scene.newest("poll")
            #expect(second.ordinal == 2 && second.cause == "after:\(first.id)")
            #expect(second.slot == at("10:05:30"))
        }
    }

    @Test func `finds its last end after a restart, and is never passed over`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.timed("poll", .after, "30m").with { $0.catchUp.mode = .none })
            try await scene.settled()
            try await scene.endNewest("poll")
        }
        for _ in 1...2 {
            try await SlotScene.run(in: folder, at: at("23:00:00")) { scene in
                try await scene.settled()
                let second = try await scene.newest("poll")
                #expect(second.ordinal == 2 && second.slot == at("10:30:00"))
            }
        }
    }

    @Test func `waits for the end of a run that somebody asked for`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("poll", .after, "60s"))
            try await scene.settled()
            try await scene.endNewest("poll")
            try await scene.sleeps(until: at("10:01:00"))
            let request = RequestedRun(job: "poll", kind: .manual, cause: "key:1")
            _ = try await scene.keeper.request(request)
            scene.clock.advance(to: at("10:01:00"))
            try await scene.settled()
            #expect(try await scene.newest("poll").cause == "key:1")
            scene.clock.advance(to: at("10:10:00"))
            try await scene.endNewest("poll")
            try await scene.sleeps(until: at("10:11:00"))
            #expect(try await scene.spans(of: "poll").isEmpty)
        }
    }

    @Test func `stands still while it is paused, and continues where it was`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("poll", .after, "60s"))
            try await scene.settled()
            try await scene.endNewest("poll")
            try await scene.sleeps(until: at("10:01:00"))
            _ = try await scene.keeper.change([.pause("poll", note: nil)])
            scene.clock.advance(to: at("10:30:00"))
            try await scene.settled()
            #expect(try await scene.newest("poll").ordinal == 1)
            _ = try await scene.keeper.change([.resume("poll")])
            try await scene.settled()
            #expect(try await scene.newest("poll").ordinal == 2)
        }
    }

    @Test func `waits no longer than its interval when the clock goes back`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("poll", .after, "60s"))
            try await scene.settled()
            try await scene.endNewest("poll")
            try await scene.sleeps(until: at("10:01:00"))
            scene.clock.set(to: at("08:00:00"))
            try await scene.settled()
            #expect(try await scene.keeper.entry("poll")?.next == at("08:01:00"))
            scene.clock.set(to: at("02:00:00"))
            try await scene.settled()
            #expect(try await scene.keeper.entry("poll")?.next == at("02:01:00"))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a job that runs once` {
    @Test func `runs at its moment and never again`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("once", .at, "2026-03-03T12:00:00+01:00"))
            try await scene.sleeps(until: at("11:00:00"))
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "once") == [at("11:00:00")])
            #expect(try await scene.keeper.entry("once")?.next == nil)
            scene.clock.advance(to: at("23:00:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "once").count == 1)
        }
    }

    @Test func `is caught up when nobody was there, and missed when it is too late`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(
                .timed("once", .at, "2026-03-03T11:00:00Z"),
                .timed("tight", .at, "2026-03-03T11:00:00Z").with { $0.catchUp.within = .seconds(600) })
        }
        try await SlotScene.run(in: folder, at: at("12:00:00")) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "once") == [at("11:00:00")])
            #expect(try await scene.slots(of: "tight").isEmpty)
            #expect(try await scene.spans(of: "tight") == ["missed catchUpWindow 11:00:00-11:00:00 x1"])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a job that runs at the start of the machine` {
    @Test func `runs once for each start, however often the daemon is started`() async throws {
        let folder = try TemporaryFolder()
        for (boot, expected) in [("one", 1), ("one", 1), ("two", 2), ("two", 2)] {
            try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
                if await !scene.keeper.isJob("start") { try await scene.put(.timed("start", .startup)) }
                try await scene.keeper.takeUp(boot: boot)
                let runs = try await scene.ledger.runs(RunFilter(job: "start"))
                #expect(runs.count == expected)
                #expect(runs.first?.cause == "boot:\(boot)" && runs.first?.kind == .scheduled)
                if runs.first?.state == .queued { try await scene.endNewest("start") }
            }
        }
    }

    @Test func `that is added later waits for the next start`() async throws {
        let folder = try TemporaryFolder()
        for boot in ["one", "one"] {
            try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
                try await scene.keeper.takeUp(boot: boot)
                try await scene.put(.timed("late", .startup))
                try await scene.settled()
                #expect(try await scene.ledger.runs(RunFilter()).isEmpty)
            }
        }
        try await SlotScene.run(in: folder, at: at("11:00:00")) { scene in
            try await scene.keeper.takeUp(boot: "two")
            #expect(try await scene.newest("late").cause == "boot:two")
        }
    }

    @Test func `waits for its delay after the start, also over a restart of the daemon`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.timed("start", .startup, "15m"))
            try await scene.keeper.takeUp(boot: "one")
            let run = try await scene.newest("start")
            #expect(run.state == .scheduled && run.notBefore == at("10:15:00"))
        }
        try await SlotScene.run(in: folder, at: at("10:01:00")) { scene in
            try await scene.keeper.takeUp(boot: "one")
            try await scene.sleeps(until: at("10:15:00"))
            scene.clock.advance(to: at("10:15:00"))
            try await scene.settled()
            #expect(try await scene.ledger.runs(RunFilter(job: "start")).map(\.state) == [.queued])
        }
    }

    @Test func `shows it when it is paused`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.timed("start", .startup))
            _ = try await scene.keeper.change([.pause("start", note: nil)])
            try await scene.keeper.takeUp(boot: "one")
            #expect(try await scene.spans(of: "start") == ["skipped paused 10:00:00-10:00:00 x1"])
        }
    }
}
