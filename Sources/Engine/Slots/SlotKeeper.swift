import Cron
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns schedules into slots, and each slot into a row: a run, or the reason why there is none.
///
/// The only owner of the watermark, and the only maker of runs. One loop does everything in turn: what others
/// ask of it waits in a queue, so that a decision, its commit and the book stay one step.
package actor SlotKeeper {
    /// At most this many rows in one transaction: edits, their events, the watermark and its mark aside.
    package static let batch = 10_000
    /// A clock that went back further than this begins a new era: wall time may repeat.
    package static let eraStep: Duration = .seconds(3 * 3600)
    /// A warden that says nothing must not keep slots from being decided.
    package static let newsLimit: Duration = .seconds(10)
    /// The release of the zone data by which slots were decided last.
    static let tzdataFact = "tzdata"

    let ledger: any Ledger
    let clock: any WallClock
    let zones: ZoneLookup
    let census: RunCensus
    let notes: RunNotes
    let makeID: @Sendable () -> String
    let logger: Logger
    /// Ends once it is known which runs of an earlier daemon are still under way; nil: it is known.
    private let news: AsyncStream<Never>?
    let alarm = Alarm()
    var book = JobBook()
    var watermark: Watermark
    /// The decision that is half done.
    var cut: SlotCut?
    /// Runs that wait for their spread.
    var waiting = WaitingRuns()
    /// Jobs that run after their last end, while the moment of their next run is not known.
    var unchained: Set<String> = []
    /// Why some jobs can't be scheduled, by name.
    var faults: [String: String] = [:]
    var watch: SlotClock
    /// The release of the zone data that slots follow.
    var tzdata: String?
    /// A release to follow from the next turn on; empty: one without a name.
    var comingTzdata: String?
    /// Jobs that are being taken up and were changed or removed while no daemon ran.
    var outdated: Set<String> = []
    /// Whether nothing is decided yet, because the jobs of the files have not been taken up.
    private var awaitsJobs: Bool
    private var commands = SlotCommands()
    /// How often in a row the ledger refused what was to be recorded.
    private var failures = 0

    /// Reads the jobs and the watermark; a new ledger's watermark is now.
    ///
    /// One that `awaitsJobs` decides nothing before ``takeUp(_:)``.
    package init(
        ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup, census: RunCensus,
        notes: RunNotes, makeID: @escaping @Sendable () -> String, logger: Logger,
        machine: ClockEdges = ClockEdges(),
        news: AsyncStream<Never>? = nil, awaitsJobs: Bool = false
    ) async throws(LedgerError) {
        self.ledger = ledger
        self.clock = clock
        self.zones = zones
        self.census = census
        self.notes = notes
        self.makeID = makeID
        self.logger = logger
        self.news = news
        self.awaitsJobs = awaitsJobs
        let now = clock.now
        watch = SlotClock(clock, machine: machine)
        let stored = try await ledger.watermark()
        self.watermark = stored ?? Watermark(decidedUntil: now, era: 0)
        if stored == nil {
            try await ledger.commit([.moveWatermark(from: watermark, to: watermark)])
        }
        cut = try await ledger.fact(named: SlotCut.fact).flatMap { SlotCut($0) }
        tzdata = try await ledger.fact(named: Self.tzdataFact)
        try await readJobs()
        let active = try await ledger.activeRuns()
        census.began(active)
        for run in active where run.state == .scheduled { wait(for: run, at: now) }
    }

    // MARK: What others ask

    /// Changes jobs: all of `edits` and `events`, or nothing.
    ///
    /// Slots up to now are decided by the old policies first, in the same transaction.
    package func change(
        _ edits: [JobEdit], events: [NewEvent] = []
    ) async throws(EngineError) -> [JobRecord] {
        try await ask { .change(edits, events: events, $0) }
    }

    /// Puts the jobs of the files in force that a daemon starts with.
    ///
    /// Slots up to now are decided by the old policies first, in the same transaction. Those of a job that was changed
    /// or removed while no daemon ran are missed: whoever stopped the daemon for that wants none of them to run.
    package func takeUp(_ edits: [JobEdit]) async throws(EngineError) {
        _ = try await ask { .takeUp(edits, $0) }
    }

    /// Makes a run that no schedule asks for.
    package func request(_ request: RunRequest) async throws(EngineError) -> RequestOutcome {
        try await ask { .request(request, $0) }
    }

    /// Runs the jobs that run once after each start of the machine, if no daemon did in this `boot`.
    ///
    /// Asked once the jobs of the files are in force; those that come later wait for the next start.
    package func takeUp(boot: String) async throws(EngineError) {
        try await ask { .boot(boot, $0) }
    }

    /// Looks every zone up again, because the machine's zone data is, or may be, another release now.
    ///
    /// As with an edit, slots up to now are decided by the rules so far, and the new ones hold from now on.
    package func takeUpZones(release: String?) {
        comingTzdata = release ?? ""
        alarm.ring()
    }

    /// Looks at the clock now: something says that it may have been set, or that the machine has slept.
    package func look() { alarm.ring() }

    /// What status says of jobs and slots; costs the same for ten jobs and ten thousand.
    package func summary() -> SlotSummary {
        let isBehind = watermark.decidedUntil - clock.now > .seconds(1)
        return SlotSummary(
            jobs: book.count, next: book.earliestAwake, faults: faults, active: census.count,
            tzdata: tzdata.flatMap { $0.isEmpty ? nil : $0 }, isHeld: watch.isHeld,
            behind: isBehind ? watermark.decidedUntil : nil,
            late: failures > 0 ? book.earliest.map(\.slot).flatMap { $0 < clock.now ? $0 : nil } : nil,
            setBack: watch.recentSetBack)
    }

    private func ask<Answer: Sendable>(
        _ makeCommand: (SlotCommand.Caller<Answer>) -> SlotCommand
    ) async throws(EngineError) -> Answer {
        guard !commands.isStopped else { throw .stopping }
        let result = await withCheckedContinuation { continuation in
            commands.add(makeCommand(continuation))
            alarm.ring()
        }
        return try result.get()
    }

    // MARK: The loop

    /// Decides slots as they come, until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        defer { commands.refuse() }
        try await hearNews()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await condition in self.ledger.conditions() where condition == .sound {
                    await self.retryAtOnce()
                }
            }
            try await serve()
        }
    }

    /// Does not wait for the next try: the ledger takes everything again.
    private func retryAtOnce() {
        if failures > 0 { alarm.ring() }
    }

    private func serve() async throws {
        while true {
            do {
                try await turn()
                failures = 0
            } catch {
                guard error.mayPass, !error.isAboutWatermark else { throw error }
                failures += 1
                if failures == 1 {
                    logger.error("slots can't be recorded", metadata: ["reason": "\(error)"])
                }
            }
            try await alarm.wait(until: nextTurn, on: clock)
        }
    }

    /// Waits until it is known which runs of an earlier daemon have ended, but not for ever.
    ///
    /// One that ended while no daemon was up would pass for one at work, and its job would skip slots for nothing.
    private func hearNews() async throws {
        guard let news else { return }
        let limit = clock.now + Self.newsLimit
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in news {} }
            group.addTask { [clock] in try await clock.sleep(until: limit) }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private var nextTurn: Moment? {
        if awaitsJobs { return nil }
        if failures > 0 { return clock.now + .seconds(min(failures, 30)) }
        let slot = watch.isHeld ? clock.now + .seconds(1) : book.earliest?.slot
        return [slot, waiting.next].compactMap(\.self).min()
    }

    private func turn() async throws(LedgerError) {
        lookAtClock()
        guard await hasJobs() else { return }
        // What fails here fails again below, when everybody has an answer.
        try? await followEnds()
        try? await startWaiting()
        var failure: LedgerError?
        while !commands.isEmpty || comingTzdata != nil && failure == nil {
            do throws(LedgerError) { try await readZones() } catch { failure = error }
            var requests = RequestBatch()
            for command in commands.takeAll() {
                switch command {
                case .request(let request, let continuation):
                    requests.add(request, continuation)
                case .change(let edits, let events, let continuation):
                    await answer(&requests)
                    continuation.resume(returning: await apply(edits, events))
                case .takeUp(let edits, let continuation):
                    await answer(&requests)
                    continuation.resume(returning: await apply(edits, afterStop: true))
                case .boot(let boot, let continuation):
                    await answer(&requests)
                    continuation.resume(returning: await start(boot))
                }
            }
            await answer(&requests)
        }
        if let failure { throw failure }
        try await followEnds()
        try await settle(until: clock.now)
        try await startWaiting()
    }

    /// Takes up the jobs of the files before anything is decided; false while nobody has said what they are.
    private func hasJobs() async -> Bool {
        while awaitsJobs {
            guard let (edits, continuation) = commands.removeTakeUp() else { return false }
            let outcome = await apply(edits, afterStop: true)
            if case .success = outcome { awaitsJobs = false }
            continuation.resume(returning: outcome)
        }
        return true
    }
}

extension LedgerError {
    /// Whether somebody else moved the watermark: what this keeper knows of slots is not true any more.
    fileprivate var isAboutWatermark: Bool {
        if case .fenced(index: 0, let change) = self { return change == "moveWatermark" }
        return false
    }
}
