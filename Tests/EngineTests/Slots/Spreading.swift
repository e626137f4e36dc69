import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a job with a spread` {
    static let spread: Duration = .seconds(600)
    static let offset = SlotDelay.spread(spread, of: "calm")

    private var calm: JobSpec { .cron("calm", "0 * * * *").with { $0.spread = Self.spread } }

    @Test func `has its slot decided on time, and starts after its own part of the spread`() async throws {
        try await SlotScene.run(at: at("10:59:00")) { scene in
            try await scene.put(calm)
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            let run = try await scene.newest("calm")
            #expect(run.state == .scheduled && run.reason == .spread)
            #expect(run.slot == at("11:00:00") && run.lateness == .zero)
            #expect(run.notBefore == at("11:00:00") + Self.offset)
            try await scene.sleeps(until: at("11:00:00") + Self.offset)
            scene.clock.advance(by: Self.offset - .microseconds(1))
            try await scene.settled()
            #expect(try await scene.newest("calm").state == .scheduled)
            scene.clock.advance(by: .microseconds(1))
            try await scene.settled()
            #expect(try await scene.newest("calm").state == .queued)
        }
    }

    @Test func `keeps its moment over a restart, and starts once`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("11:00:00") - .seconds(1)) { scene in
            try await scene.put(calm)
            scene.clock.advance(by: .seconds(1))
            try await scene.settled()
        }
        try await SlotScene.run(in: folder, at: at("11:00:01")) { scene in
            try await scene.sleeps(until: at("11:00:00") + Self.offset)
            scene.clock.advance(to: at("11:10:00"))
            try await scene.settled()
            #expect(try await scene.newest("calm").state == .queued)
            #expect(try await scene.ledger.runs(RunFilter()).count == 1)
        }
    }

    @Test func `that is cancelled while it waits never starts, and others beside it do`() async throws {
        try await SlotScene.run(at: at("10:59:00")) { scene in
            try await scene.put(calm, .cron("other", "0 * * * *").with { $0.spread = Self.spread })
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            let run = try await scene.newest("calm")
            try await scene.ledger.commit([
                .moveRun(RunMove(run: run.id, from: [.scheduled], attempt: 1, to: .canceled))
            ])
            scene.clock.advance(to: at("11:10:00"))
            try await scene.settled()
            #expect(try await scene.newest("calm").state == .canceled)
            #expect(try await scene.newest("other").state == .queued)
        }
    }

    @Test func `waits no longer than its spread when the clock goes back`() async throws {
        try await SlotScene.run(at: at("10:59:00")) { scene in
            try await scene.put(calm)
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            scene.clock.set(to: at("09:00:00"))
            try await scene.settled()
            scene.clock.advance(to: at("09:10:00"))
            try await scene.settled()
            #expect(try await scene.newest("calm").state == .queued)
        }
    }

    /// A job that runs each minute, its third slot decided: the first one's run is under way, the others waited.
    private func crowded(
        _ policy: OverlapPolicy, isolation: isolated (any Actor)? = #isolation,
        _ look: (SlotScene, [RunRecord]) async throws -> Void
    ) async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            let spec = JobSpec.cron("calm", "0 * * * * *").with { $0.overlap = policy }
            try await scene.put(spec)
            try await scene.decide(at: at("10:01:00"))
            let run = try await scene.newest("calm")
            try await scene.ledger.commit([
                .moveRun(RunMove(run, from: [.queued], to: .starting)),
                .moveRun(RunMove(run, from: [.starting], to: .running)),
            ])
            try await scene.put(spec.with { $0.spread = Self.spread })
            for minute in 2...3 { try await scene.decide(at: at("10:0\(minute):00")) }
            try await look(scene, try await scene.ledger.runs(RunFilter(job: "calm")).reversed())
        }
    }

    @Test(arguments: [OverlapPolicy.queueOne, .replace])
    func `has one run that waits, the newest, which starts when the first of them would have`(
        policy: OverlapPolicy
    ) async throws {
        try await crowded(policy) { scene, runs in
            #expect(runs.map(\.state) == [.running, .skipped, .scheduled])
            #expect(runs[1].reason == .superseded && runs.allSatisfy { $0.endAsked == nil })
            #expect(runs[2].notBefore == at("10:02:00") + Self.offset)
            #expect(scene.census.runs(of: "calm") == [runs[0].id, runs[2].id])
        }
    }

    @Test(arguments: [OverlapPolicy.queueOne, .replace])
    func `waits for its turn alone when it takes the place of one whose moment had come`(
        policy: OverlapPolicy
    ) async throws {
        try await crowded(policy) { scene, runs in
            let start = at("10:02:00") + Self.offset
            // The slots in between each take the place of the one before, which keeps its moment.
            try await scene.decide(at: start)
            try await scene.isQueued("calm")
            let next = Moment(seconds: (start.seconds / 60 + 1) * 60)
            try await scene.decide(at: next)
            #expect(try await scene.isQueued("calm").slot == next)
            let waiting = RunFilter(job: "calm", states: [.scheduled, .queued])
            #expect(try await scene.ledger.runs(waiting).count == 1)
        }
    }

    @Test func `and replace ends the run under way when the next one starts, not before`() async throws {
        try #require(Self.offset > .seconds(60))
        try await crowded(.replace) { scene, runs in
            #expect(runs[0].endAsked == nil)
            let start = at("10:02:00") + Self.offset
            try await scene.decide(at: start - .microseconds(1))
            #expect(try await scene.ledger.run(id: runs[0].id)?.endAsked == nil)
            try await scene.decide(at: start)
            try await scene.isQueued("calm")
            let after = try await scene.ledger.runs(RunFilter(job: "calm", states: [.queued, .running]))
            #expect(after.map(\.state) == [.queued, .running])
            #expect(after.last?.endAsked == .replaced && after.first?.endAsked == nil)
            #expect(scene.notedRuns().contains(runs[0].id))
        }
    }

    @Test func `and replace still ends it at the start after a restart`() async throws {
        let folder = try TemporaryFolder()
        let spec = JobSpec.cron("calm", "0 * * * *").with {
            $0.overlap = .replace
            $0.spread = Self.spread
        }
        try await SlotScene.run(in: folder, at: at("10:59:00")) { scene in
            _ = try await scene.keeper.change([.put(spec, origin: .file, place: "f:1")])
            guard
                case .queued(let run) = try await scene.keeper.request(
                    RequestedRun(job: "calm", kind: .manual, cause: RunCause.key("k")))
            else { return }
            try await scene.ledger.commit([.moveRun(RunMove(run, from: [.queued], to: .starting))])
            try await scene.decide(at: at("11:00:00"))
        }
        try await SlotScene.run(in: folder, at: at("11:10:00")) { scene in
            try await scene.settled()
            let runs = try await scene.ledger.runs(RunFilter(job: "calm"))
            #expect(runs.map(\.state) == [.queued, .starting])
            #expect(runs.last?.endAsked == .replaced)
        }
    }

    @Test func `has an offset of its own, below the spread, by its name alone`() {
        let offsets = (0..<1000).map { SlotDelay.spread(.seconds(600), of: "job-\($0)") }
        #expect(offsets.allSatisfy { $0 >= .zero && $0 < .seconds(600) })
        let minutes = Dictionary(grouping: offsets) { $0.milliseconds / 60_000 }
        #expect(minutes.count == 10 && minutes.values.allSatisfy { (50...150).contains($0.count) })
        #expect(SlotDelay.spread(.zero, of: "job") == .zero)
        #expect(SlotDelay.spread(.seconds(600), of: "job-1") == offsets[1])
    }
}

extension SlotScene {
    /// Lets the clock reach `moment`, and waits until everything that has come is decided.
    fileprivate func decide(at moment: Moment) async throws {
        clock.advance(to: moment)
        try await settled()
    }

    /// The newest run of a job, once it is queued: one whose moment has come with its slot starts after the slot was
    /// decided.
    @discardableResult fileprivate func isQueued(_ job: String) async throws -> RunRecord {
        let commits = ledger.commits()
        var run = try await newest(job)
        var touched = commits.makeAsyncIterator()
        while run.state != .queued {
            guard await touched.next() != nil else { throw LedgerError.closed }
            run = try await newest(job)
        }
        return run
    }
}

@Suite(.timeLimit(.minutes(5))) struct `many jobs that catch up` {
    @Test func `do not start in one second`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("01:30:00")) { scene in
            for number in 10..<60 { try await scene.put(.cron("job-\(number)", "0 * * * *")) }
        }
        // Eight hours of sleep.
        try await SlotScene.run(in: folder, at: at("09:30:00")) { scene in
            try await scene.settled()
            let runs = try await scene.ledger.runs(RunFilter())
            #expect(runs.count == 50)
            #expect(runs.count { $0.state == .queued } == 8)
            let last = runs.compactMap(\.notBefore).max()
            #expect(last == at("09:30:10.5"))
            scene.clock.advance(to: at("09:30:10.5"))
            try await scene.settled()
            #expect(try await scene.ledger.runs(RunFilter(states: [.queued])).count == 50)
        }
    }
}
