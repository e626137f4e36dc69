import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

/// A slot keeper at work on a ledger in a file, with a clock that the test moves.
struct SlotScene {
    let ledger: SQLiteLedger
    let clock: ManualClock
    let census: RunCensus
    let notes: RunNotes
    let keeper: SlotKeeper

    /// Serves while `body` looks on, then stops and closes the ledger: what a stop of the daemon is.
    static func run(
        in folder: TemporaryFolder, at now: Moment, zones: @escaping ZoneLookup = machineZones,
        sinceBoot: Duration = .seconds(86_400),
        machine: ClockEdges = ClockEdges(), news: AsyncStream<Never>? = nil, awaitsJobs: Bool = false,
        isolation: isolated (any Actor)? = #isolation, _ body: (SlotScene) async throws -> Void
    ) async throws {
        let clock = ManualClock(now: now, sinceBoot: sinceBoot)
        let ledger = try folder.ledger()
        let (census, notes) = (RunCensus(), RunNotes())
        let keeper = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: zones, census: census, notes: notes, makeID: freshID,
            logger: quiet,
            machine: machine, news: news, awaitsJobs: awaitsJobs)
        let scene = SlotScene(ledger: ledger, clock: clock, census: census, notes: notes, keeper: keeper)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await keeper.run() }
            try await body(scene)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        await ledger.close()
    }

    /// The same on a ledger of its own.
    static func run(
        at now: Moment, zones: @escaping ZoneLookup = machineZones,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (SlotScene) async throws -> Void
    ) async throws {
        try await run(in: try TemporaryFolder(), at: now, zones: zones, isolation: isolation, body)
    }

    /// The runs of which the keeper of runs was left a note since the last look.
    func notedRuns() -> [String] {
        notes.takeAll().map { note in
            switch note {
            case .made(let run): run.id
            case .changed(let id): id
            }
        }
    }

    /// Loads jobs.
    func put(_ specs: JobSpec...) async throws {
        _ = try await keeper.change(specs.map { .put($0, origin: .cli, place: nil) })
    }

    /// Waits until the keeper sleeps until `moment`, and no longer.
    ///
    /// Sleeps that a request broke off are passed over.
    func sleeps(until moment: Moment) async throws {
        var sleep = await clock.nextSleeper()
        while sleep < moment { sleep = await clock.nextSleeper() }
        try #require(sleep == moment)
    }

    /// Waits until everything that has come is decided.
    func settled() async throws { _ = try await keeper.change([]) }

    /// The newest run of a job.
    func newest(_ job: String) async throws -> RunRecord {
        try #require(try await ledger.runs(RunFilter(job: job, limit: 1)).first)
    }

    /// Ends the newest run of a job.
    func endNewest(_ job: String) async throws { try await end(try await newest(job)) }

    /// The slots that became runs, earliest first.
    func slots(of job: String) async throws -> [Moment] {
        try await ledger.runs(RunFilter(job: job)).compactMap(\.slot).reversed()
    }

    /// The spans of a job, earliest first, as `skipped overlap 10:00:00-10:02:00 x3`.
    func spans(of job: String) async throws -> [String] {
        try await ledger.spans(of: job, limit: .max).reversed().map { span in
            let (first, last) = (span.first.iso8601.timeOfDay, span.last.iso8601.timeOfDay)
            return "\(span.state.rawValue) \(span.reason.rawValue) \(first)-\(last) x\(span.count)"
        }
    }

    /// Ends a run as if its work was done.
    func end(_ run: RunRecord) async throws {
        var ending = RunMove(run: run.id, from: [.starting], attempt: 1, to: .completed)
        ending.endedAt = clock.now
        try await ledger.commit([
            .moveRun(RunMove(run: run.id, from: [.queued], attempt: 1, to: .starting)),
            .moveRun(ending),
        ])
        census.ended(run: run.id, of: run.job)
    }
}

extension String {
    /// The `10:00:00` of `2026-03-03T10:00:00Z`.
    fileprivate var timeOfDay: Substring { dropFirst(11).prefix(8) }
}
