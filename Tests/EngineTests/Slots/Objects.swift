import Cron
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `how far slots are decided` {
    private func batch(until: Moment) -> SlotBatch {
        SlotBatch(watermark: Watermark(decidedUntil: at("10:00:00"), era: 1), until: until, now: until)
    }

    @Test func `is the watermark, and for jobs before a cut the end of its decision`() {
        let watermark = Watermark(decidedUntil: at("10:00:00"), era: 1)
        let progress = SlotProgress(watermark, cut: SlotCut(until: at("11:00:00"), job: "m"))
        #expect(progress.decidedUntil(for: "a") == at("11:00:00"))
        #expect(progress.decidedUntil(for: "m") == at("11:00:00"))
        #expect(progress.decidedUntil(for: "n") == at("10:00:00"))
    }

    @Test func `moves with the last batch of a decision, and never back`() {
        let progress = SlotProgress(Watermark(decidedUntil: at("10:00:00"), era: 1), cut: nil)
        #expect(
            progress.advanced(by: batch(until: at("11:00:00")), isLast: false).watermark == progress.watermark
        )
        #expect(
            progress.advanced(by: batch(until: at("11:00:00")), isLast: true).watermark.decidedUntil
                == at("11:00:00"))
        #expect(
            progress.advanced(by: batch(until: at("09:00:00")), isLast: true).watermark == progress.watermark)
    }

    @Test func `begins again with a new era`() {
        let progress = SlotProgress(Watermark(decidedUntil: at("10:00:00"), era: 1), cut: nil)
        let next = progress.newEra(from: at("06:00:00")).watermark
        #expect(next == Watermark(decidedUntil: at("06:00:00"), era: 2))
    }
}

@Suite struct `the reader of schedules` {
    private func job(_ name: String, zone: String) -> SlotJob {
        let spec = JobSpec.cron(name, "0 3 * * *").with { $0.schedule.zone = zone }
        return SlotJob(JobRecord(spec: spec, origin: .cli, revision: 1, since: at("10:00:00")))
    }

    @Test func `keeps why a job can't be scheduled until it can, or no longer exists`() {
        let knows = Mutexed(false)
        var reader = ScheduleReader({ $0 == "UTC" || knows.value ? .utc : nil }, release: nil, logger: quiet)
        let (good, _) = reader.read(job("good", zone: "UTC"))
        #expect(good != .manual && reader.faults.isEmpty)
        let (bad, _) = reader.read(job("bad", zone: "Mars/Olympus"))
        #expect(bad == .manual)
        #expect(Array(reader.faults.keys) == ["bad"])
        knows.value = true
        _ = reader.read(job("bad", zone: "Mars/Olympus"))
        #expect(reader.faults.isEmpty)
        reader.note(.noSuchZone("Mars/Olympus"), of: "bad")
        reader.forget("bad")
        #expect(reader.faults.isEmpty)
    }

    @Test func `keeps a release that is announced while another one is taken up`() {
        var reader = ScheduleReader({ _ in .utc }, release: "2025a", logger: quiet)
        reader.announce("2025b")
        #expect(reader.announced == "2025b" && reader.release == "2025a")
        reader.announce(nil)
        reader.follow("2025b")
        reader.settle("2025b")
        #expect(reader.announced == "" && reader.release == "2025b")
        reader.settle("")
        #expect(reader.announced == nil)
    }
}

@Suite struct `the maker of runs` {
    private func run(_ id: String) -> RunRecord {
        RunRecord(
            id: id, job: "job", bot: "belfry", kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
            revision: 1)
    }

    @Test func `counts runs from before their commit on, and no longer when it is refused`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let census = RunCensus()
        let maker = RunMaker(census: census, notes: RunNotes(), makeID: freshID)
        _ = try await maker.commit([.insertRun(run("1"), orIgnore: false)], making: [run("1")], to: ledger)
        #expect(census.runs(of: "job") == ["1"])
        await #expect(throws: LedgerError.self) {
            _ = try await maker.commit([.pauseJob(name: "none", nil)], making: [run("2")], to: ledger)
        }
        #expect(census.runs(of: "job") == ["1"])
        await ledger.close()
    }

    @Test func `leaves notes of what was made and changed`() {
        let (census, notes) = (RunCensus(), RunNotes())
        let maker = RunMaker(census: census, notes: notes, makeID: freshID)
        census.began([run("1")])
        maker.note(withdrawn: [run("1")])
        maker.note(changed: ["2"])
        let ids = notes.takeAll().map { note in
            switch note {
            case .made(let run): "made \(run.id)"
            case .changed(let id): id
            }
        }
        #expect(ids == ["1", "2"] && !census.isBusy("job"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the count of runs` {
    private func run(_ id: String) -> RunRecord {
        RunRecord(
            id: id, job: "job", bot: "belfry", kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
            revision: 1)
    }

    @Test func `publishes a job once when its last run has ended, where that is awaited`() async {
        let census = RunCensus()
        var idle = census.idleJobs().makeAsyncIterator()
        census.began([run("1"), run("2")])
        census.awaitEnd(of: "job")
        census.ended(run: "1", of: "job")
        census.ended(run: "2", of: "job")
        #expect(await idle.next() == ["job"])
        // Nobody asked again.
        census.began([run("3")])
        census.ended(run: "3", of: "job")
        census.awaitEnd(of: "other")
        #expect(await idle.next() == ["other"])
    }
}
