import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

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
