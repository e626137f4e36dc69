import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `an edit of a job` {
    @Test func `decides what has come under the old revision, in one transaction`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("job", "0 * * * * *", "old"))
            try await scene.sleeps(until: at("10:01:00"))
            // The clock passes the slot, and the edit is there before the keeper has looked.
            let before = scene.ledger.transactions
            // The edit may not come before the step of the clock.
            scene.clock.pass(to: at("10:01:00.3"))
            async let edited = scene.keeper.change([
                .put(.cron("job", "30 * * * * *", "new"), origin: .cli, place: nil)
            ])
            scene.clock.advance(to: at("10:01:00.3"))
            #expect(try await edited.first?.revision == 2)
            try await scene.settled()
            let run = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
            #expect(run.slot == at("10:01:00") && run.revision == 1)
            #expect(scene.ledger.transactions - before <= 2)
            #expect(try await scene.ledger.spec(of: "job", revision: 1)?.action == .shell("old"))
        }
    }

    @Test(arguments: [
        JobEdit.pause("job", note: nil), .remove("job"), .resume("job"),
        .put(.manual("job"), origin: .cli, place: nil),
    ])
    func `of any kind 300 ms after a slot comes after that slot, in one transaction`(edit: JobEdit)
        async throws
    {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            // Both slots are due when the edit comes: no look at the clock lies between.
            try await scene.put(.cron("job", "0 * * * * *", "old"), .cron("other", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            let before = scene.ledger.transactions
            // The edit may not come before the step of the clock.
            scene.clock.pass(to: at("10:01:00.3"))
            async let edited = scene.keeper.change([edit])
            scene.clock.advance(to: at("10:01:00.3"))
            _ = try await edited
            try await scene.settled()
            #expect(scene.ledger.transactions - before <= 2)
            for job in ["job", "other"] {
                let run = try #require(try await scene.ledger.run(job: job, ordinal: 1))
                #expect(run.slot == at("10:01:00") && run.revision == 1)
                #expect(try await scene.spans(of: job).isEmpty)
            }
        }
    }

    @Test func `while the daemon was away takes effect after what was missed`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("job", "*/10 * * * *"))
        }
        try await SlotScene.run(in: folder, at: at("10:35:00")) { scene in
            try await scene.put(.cron("job", "* * * * *"))
            try await scene.sleeps(until: at("10:36:00"))
            #expect(try await scene.slots(of: "job") == [at("10:30:00")])
            #expect(try await scene.spans(of: "job") == ["skipped superseded 10:10:00-10:20:00 x2"])
        }
    }

    @Test func `that only moves its place in the file makes no revision`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            let spec = JobSpec.cron("job", "* * * * *")
            for place in ["a.yaml:3", "a.yaml:9"] {
                let records = try await scene.keeper.change([.put(spec, origin: .file, place: place)])
                #expect(records.first?.revision == 1)
            }
            #expect(try await scene.ledger.job(named: "job")?.place == "a.yaml:9")
        }
    }

    @Test func `by pausing skips from then on, and by resuming fires again`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("job", "0 * * * * *"))
            scene.clock.advance(to: at("10:01:00"))
            _ = try await scene.keeper.change([.pause("job", note: nil)])
            #expect(try await scene.slots(of: "job") == [at("10:01:00")])
            scene.clock.advance(to: at("10:03:30"))
            _ = try await scene.keeper.change([.resume("job")])
            #expect(try await scene.spans(of: "job") == ["skipped paused 10:02:00-10:03:00 x2"])
            try await scene.end(try #require(try await scene.ledger.run(job: "job", ordinal: 1)))
            scene.clock.advance(to: at("10:04:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "job") == [at("10:01:00"), at("10:04:00")])
        }
    }

    @Test func `that removes it cancels what waits, and the name continues counting`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("job", "0 * * * * *"))
            scene.clock.advance(to: at("10:01:00"))
            try await scene.settled()
            _ = try await scene.keeper.change([.remove("job")])
            let run = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
            #expect(run.state == .canceled && run.reason == .jobRemoved)
            #expect(try await scene.ledger.events(after: 0, limit: 9).map(\.event.type) == [.runCanceled])
            #expect(!scene.census.isBusy("job"))
            #expect(await !scene.keeper.isJob("job"))

            try await scene.put(.cron("job", "0 * * * * *"))
            #expect(try await scene.keeper.entry("job")?.record.revision == 2)
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.ledger.run(job: "job", ordinal: 2)?.slot == at("10:02:00"))
        }
    }

    @Test func `of a job that does not exist is refused with all that came with it`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            await #expect(throws: EngineError.noSuchJob("ghost")) {
                try await scene.keeper.change([
                    .put(.manual("new"), origin: .cli, place: nil), .remove("ghost"),
                ])
            }
            #expect(await !scene.keeper.isJob("new"))
            let jobs = try await scene.ledger.jobs()
            #expect(jobs.isEmpty)
        }
    }

    @Test func `never takes a job from its owner`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            _ = try await scene.keeper.change([
                .put(.manual("filed"), origin: .file, place: "f:1"),
                .put(.manual("typed"), origin: .cli, place: nil),
            ])
            await #expect(throws: EngineError.ownedByFile(job: "filed", place: "f:1")) {
                try await scene.keeper.change([.put(.manual("filed"), origin: .cli, place: nil)])
            }
            await #expect(throws: EngineError.nameTaken("typed")) {
                try await scene.keeper.change([.put(.manual("typed"), origin: .file, place: "f:2")])
            }
        }
    }

    @Test func `after the keeper has stopped is refused, not forgotten`() async throws {
        let folder = try TemporaryFolder()
        let keepers = try await withStopped(in: folder)
        await #expect(throws: EngineError.stopping) { try await keepers.change([]) }
    }

    private func withStopped(in folder: TemporaryFolder) async throws -> SlotKeeper {
        var keeper: SlotKeeper?
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.settled()
            keeper = scene.keeper
        }
        return try #require(keeper)
    }

    @Test func `is needed where a stored job's zone is not known any more, and repairs it`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            var lost = JobSpec.cron("lost", "* * * * *")
            lost.schedule.zone = "Atlantis/Capital"
            try await scene.put(lost)
            let entry = try #require(try await scene.keeper.entry("lost"))
            #expect(entry.next == nil && entry.fault?.contains("Atlantis/Capital") == true)
            #expect(await scene.keeper.summary().faults.keys.sorted() == ["lost"])
            try await scene.put(.cron("lost", "* * * * *"))
            #expect(await scene.keeper.summary().faults.isEmpty)
            try await scene.sleeps(until: at("10:01:00"))
        }
    }
}
