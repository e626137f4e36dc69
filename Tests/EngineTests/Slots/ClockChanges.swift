import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

/// A night in which the clocks of a zone change, as its people see it.
struct ChangingNight: CustomTestStringConvertible {
    var zone: String
    /// Local noon before, as UTC; a day is watched from here.
    var noon: String
    /// The slots, in UTC, of a job at 02:15 and of one at every full hour, and how many those are.
    var nightly: [String]
    var hourly: Int

    var testDescription: String { "\(zone) from \(noon)" }

    static let all = [
        // Spring: 02:15 does not exist and runs at the first valid moment; a day has one hour less.
        ChangingNight(
            zone: "Europe/Berlin", noon: "2026-03-28T11:00:00Z", nightly: ["2026-03-29T01:00:00Z"], hourly: 23
        ),
        ChangingNight(
            zone: "America/New_York", noon: "2026-03-07T17:00:00Z", nightly: ["2026-03-08T07:00:00Z"],
            hourly: 23),
        // Half an hour: 02:00 to 02:30 is skipped, and with it one full hour.
        ChangingNight(
            zone: "Australia/Lord_Howe", noon: "2026-10-03T01:30:00Z", nightly: ["2026-10-03T15:30:00Z"],
            hourly: 23),
        // Autumn: 02:15 comes twice and runs the first time; every full hour runs, the repeated one twice.
        ChangingNight(
            zone: "Europe/Berlin", noon: "2026-10-24T10:00:00Z", nightly: ["2026-10-25T00:15:00Z"], hourly: 25
        ),
        ChangingNight(
            zone: "America/New_York", noon: "2026-10-31T16:00:00Z", nightly: ["2026-11-01T07:15:00Z"],
            hourly: 25),
        ChangingNight(
            zone: "Australia/Lord_Howe", noon: "2026-04-04T01:00:00Z", nightly: ["2026-04-04T15:45:00Z"],
            hourly: 24),
    ]
}

@Suite(.timeLimit(.minutes(5))) struct `a night in which the clock changes` {
    /// Every slot of a day, each at its moment, the clock stopping nowhere else.
    @Test(arguments: ChangingNight.all)
    func `runs what it should, once each, and never early`(_ night: ChangingNight) async throws {
        let noon = try Moment(iso8601: night.noon)
        try await SlotScene.run(at: noon) { scene in
            for (name, cron) in [("nightly", "15 2 * * *"), ("hourly", "0 * * * *")] {
                var spec = JobSpec.cron(name, cron)
                spec.schedule.zone = night.zone
                try await scene.put(spec)
            }
            let zone = try #require(machineZones(night.zone))
            let end = try Self.nextNoon(after: noon, in: zone)
            while let (slot, _) = await scene.keeper.summary().next, slot <= end {
                scene.clock.advance(to: slot)
                try await scene.settled()
                for run in try await scene.ledger.runs(RunFilter(states: [.queued])) {
                    #expect(run.slot == slot && run.lateness == .zero)
                    try await scene.end(run)
                }
            }
            #expect(try await scene.slots(of: "nightly").map(\.iso8601) == night.nightly)
            #expect(try await scene.slots(of: "hourly").count == night.hourly)
            #expect(try await scene.ledger.spans(of: nil, limit: 9).isEmpty)
        }
    }

    /// The same when the daemon was away all night: what is decided is the same set of slots.
    @Test(arguments: ChangingNight.all)
    func `is decided by the same slots when nobody was there`(_ night: ChangingNight) async throws {
        let noon = try Moment(iso8601: night.noon)
        let folder = try TemporaryFolder()
        let zone = try #require(machineZones(night.zone))
        try await SlotScene.run(in: folder, at: noon) { scene in
            for (name, cron) in [("nightly", "15 2 * * *"), ("hourly", "0 * * * *")] {
                var spec = JobSpec.cron(name, cron)
                spec.schedule.zone = night.zone
                spec.catchUp = CatchUpPolicy(mode: .all, within: .seconds(3 * 86_400))
                try await scene.put(spec)
            }
        }
        try await SlotScene.run(in: folder, at: try Self.nextNoon(after: noon, in: zone)) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "nightly").map(\.iso8601) == night.nightly)
            #expect(try await scene.slots(of: "hourly").count == night.hourly)
        }
    }

    /// Noon of the next day.
    private static func nextNoon(after noon: Moment, in zone: ZoneRules) throws -> Moment {
        let day = (noon + .seconds(86_400)).iso8601(in: zone).prefix(10)
        return try Moment(iso8601: day + "T12:00", in: zone)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `twenty-five thousand slots at one instant` {
    static let count = 25_000

    /// A ledger with that many jobs, decided up to 10:00.
    private func filled(_ folder: TemporaryFolder) async throws {
        let ledger = try folder.ledger()
        try await ledger.commit([
            .moveWatermark(
                from: Watermark(decidedUntil: at("10:00:00"), era: 0),
                to: Watermark(decidedUntil: at("10:00:00"), era: 0))
        ])
        for start in stride(from: 0, to: Self.count, by: 5000) {
            try await ledger.commit(
                (start..<start + 5000).map { number in
                    .putJob(
                        JobRecord(
                            spec: .cron("job-\(number)", "0 * * * * *"), origin: .cli, revision: 1,
                            since: at("10:00:00")), replacing: nil)
                })
        }
        await ledger.close()
    }

    @Test func `are decided in few transactions, each once, also when the daemon dies between two`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await filled(folder)
        // The clock stands at the slot; the ledger is closed after the first batch, as a crash would leave it.
        let clock = ManualClock(now: at("10:01:00"))
        let first = try folder.ledger()
        let keeper = try await SlotKeeper(
            ledger: first, clock: clock, zones: { _ in .utc }, census: RunCensus(), notes: RunNotes(),
            makeID: freshID,
            logger: quiet)
        let commits = first.commits()
        let serving = Task { try await keeper.run() }
        for await stations in commits where stations.contains(.runs) { break }
        await first.close()
        serving.cancel()
        _ = await serving.result

        // Later: the rest of that instant must be known apart from what was decided before.
        try await SlotScene.run(in: folder, at: at("10:01:20")) { scene in
            let before = scene.ledger.transactions
            try await scene.settled()
            #expect(scene.ledger.transactions - before <= 4)
            let runs = try await scene.ledger.runs(RunFilter())
            #expect(runs.count == Self.count)
            #expect(Set(runs.map(\.job)).count == Self.count)
            #expect(runs.allSatisfy { $0.slot == at("10:01:00") && $0.state == .queued })
            #expect(try await scene.ledger.spans(of: nil, limit: 10).isEmpty)
            #expect(try await scene.ledger.events(after: 0, limit: 10).isEmpty)
            #expect(try await scene.ledger.watermark()?.decidedUntil == at("10:01:00"))
            #expect(try await scene.ledger.fact(named: "slots.cut") == nil)
            try await scene.sleeps(until: at("10:02:00"))
            let summary = await scene.keeper.summary()
            #expect(summary.jobs == Self.count && summary.active == Self.count)
        }
    }
}
