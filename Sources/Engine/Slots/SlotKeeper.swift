import Cron
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns schedules into slots, and each slot into a row: a run, or the reason why there is none.
///
/// The only owner of the watermark, and the only maker of runs. One loop does everything in turn: what others
/// ask of it waits in a queue, so that a decision, its commit and the book stay one step.
package actor SlotKeeper: Keeper {
    /// At most this many rows in one transaction: edits, their events, the watermark and its mark aside.
    package static let batch = 10_000
    /// A clock that went back further than this begins a new era: wall time may repeat.
    package static let eraStep: Duration = .seconds(3 * 3600)
    /// A silent warden must not keep slots from being decided.
    package static let newsLimit: Duration = .seconds(10)
    /// The release of the zone data by which slots were decided last.
    static let tzdataFact = "tzdata"

    let ledger: any Ledger
    var loop: KeeperLoop
    let runs: RunMaker
    private var start: SlotStart
    private var commands = SlotCommands()
    var schedules: ScheduleReader
    var book = JobBook()
    var progress: SlotProgress
    /// Runs that wait for their spread.
    var waiting = WaitingRuns()
    var watch: SlotClock
    var clock: any WallClock { loop.clock }
    var logger: Logger { loop.logger }

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
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "slots can't be recorded")
        runs = RunMaker(census: census, notes: notes, makeID: makeID)
        start = SlotStart(news: news, awaitsJobs: awaitsJobs)
        let now = clock.now
        watch = SlotClock(clock, machine: machine)
        let stored = try await ledger.watermark()
        let watermark = stored ?? Watermark(decidedUntil: now, era: 0)
        if stored == nil {
            try await ledger.commit([.moveWatermark(from: watermark, to: watermark)])
        }
        let cut = try await ledger.fact(named: SlotCut.fact).flatMap { SlotCut($0) }
        progress = SlotProgress(watermark, cut: cut)
        let release = try await ledger.fact(named: Self.tzdataFact)
        schedules = ScheduleReader(zones, release: release, logger: logger)
        try await readJobs()
        let active = try await ledger.activeRuns()
        census.began(active)
        for run in active where run.state == .scheduled { wait(for: run, at: now) }
    }

    // MARK: What others ask

    /// Changes jobs: all of `edits`, `events` and what else belongs to the same transaction, or nothing.
    ///
    /// Slots up to now are decided by the old policies first, in the same transaction.
    package func change(
        _ edits: [JobEdit], events: [NewEvent] = [], with more: [Change] = []
    ) async throws(EngineError) -> [JobRecord] {
        try await ask { .change(edits, with: more + events.map { .append($0) }, $0) }
    }

    /// Loads the jobs of the files that a daemon starts with.
    ///
    /// Slots up to now are decided by the old policies first, in the same transaction. Those of a job that was changed
    /// or removed while no daemon ran are missed: whoever stopped the daemon for that wants none of them to run.
    package func takeUp(_ edits: [JobEdit]) async throws(EngineError) {
        _ = try await ask { .takeUp(edits, $0) }
    }

    /// Makes a run that no schedule asks for.
    package func request(_ request: RequestedRun) async throws(EngineError) -> RequestOutcome {
        try await ask { .request(request, $0) }
    }

    /// Runs the jobs that run once after each start of the machine, if no daemon did in this `boot`.
    ///
    /// Asked once the jobs of the files are loaded; those that come later wait for the next start.
    package func takeUp(boot: String) async throws(EngineError) {
        try await ask { .boot(boot, $0) }
    }

    /// Looks every zone up again, because the machine's zone data is, or may be, another release now.
    ///
    /// As with an edit, slots up to now are decided by the rules so far, and the new ones hold from now on.
    package func takeUpZones(release: String?) {
        schedules.announce(release)
        loop.bell.ring()
    }

    /// Reads the clocks now: one may have been set, or the machine has slept.
    package func checkClocks() { loop.bell.ring() }

    /// What status shows of jobs and slots; costs the same for ten jobs and ten thousand.
    package func summary() -> SlotSummary {
        let decidedUntil = progress.watermark.decidedUntil
        return SlotSummary(
            jobs: book.count, next: book.earliestAwake, faults: schedules.faults, active: runs.census.count,
            tzdata: schedules.release.flatMap { $0.isEmpty ? nil : $0 }, isHeld: watch.isHeld,
            behind: decidedUntil - clock.now > .seconds(1) ? decidedUntil : nil,
            late: loop.isFailing ? book.earliest.map(\.slot).flatMap { $0 < clock.now ? $0 : nil } : nil,
            setBack: watch.recentSetBack)
    }

    private func ask<Answer: Sendable>(
        _ makeCommand: (SlotCommand.Caller<Answer>) -> SlotCommand
    ) async throws(EngineError) -> Answer {
        guard !commands.isStopped else { throw .stopping }
        let result = await withCheckedContinuation { continuation in
            commands.add(makeCommand(continuation))
            loop.bell.ring()
        }
        return try result.get()
    }

    // MARK: The loop

    /// Decides slots as they come, until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        defer { commands.refuse() }
        try await start.waitForNews(on: clock)
        try await follow()
    }

    func wakers() -> [Waker] { [.each(runs.census.idleJobs())] }

    /// Somebody else moved the watermark: what this keeper knows of slots is no longer true.
    nonisolated func mayPass(_ error: LedgerError) -> Bool {
        if case .fenced(index: 0, let change) = error { return change != "moveWatermark" }
        return error.mayPass
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        readClocks()
        guard await hasJobs() else { return .whenRung }
        // What fails here fails again below, when everybody has an answer.
        try? await followEnds()
        try? await startWaiting()
        try await executeCommands()
        try await followEnds()
        try await settle(until: clock.now)
        try await startWaiting()
        return .earliest(watch.isHeld ? clock.now + .seconds(1) : book.earliest?.slot, waiting.next)
    }

    /// Does what was asked for, and follows the zone data that were announced.
    ///
    /// - Throws: what kept the zone data from being followed; whoever asked has an answer all the same.
    private func executeCommands() async throws(LedgerError) {
        var failure: LedgerError?
        while !commands.isEmpty || schedules.announced != nil && failure == nil {
            do throws(LedgerError) { try await readZones() } catch { failure = error }
            var requests = RequestBatch()
            for command in commands.takeAll() { await execute(command, sharing: &requests) }
            await answer(&requests)
        }
        if let failure { throw failure }
    }

    /// Requests share a commit; any other command comes after those before it.
    private func execute(_ command: SlotCommand, sharing requests: inout RequestBatch) async {
        switch command {
        case .request(let request, let caller): requests.add(request, caller)
        case .change(let edits, let more, let caller):
            await answer(&requests)
            caller.resume(returning: await apply(edits, with: more))
        case .takeUp(let edits, let caller):
            await answer(&requests)
            caller.resume(returning: await apply(edits, afterStop: true))
        case .boot(let boot, let caller):
            await answer(&requests)
            caller.resume(returning: await makeRuns(ofBoot: boot))
        }
    }

    /// Takes up the jobs of the files before anything is decided; false while nobody has said what they are.
    private func hasJobs() async -> Bool {
        while start.awaitsJobs {
            guard let (edits, continuation) = commands.removeTakeUp() else { return false }
            let outcome = await apply(edits, afterStop: true)
            if case .success = outcome { start.noteJobs() }
            continuation.resume(returning: outcome)
        }
        return true
    }

    // MARK: Deciding

    /// Decides every slot up to `now` and commits the decisions, `extra` with the last of them.
    ///
    /// The `outdated` jobs were changed or removed while no daemon ran: none of their slots runs.
    func settle(
        until now: Moment, with extra: [Change] = [], outdated: Set<String> = []
    ) async throws(LedgerError) {
        if let cut = progress.cut { try await decide(until: cut.until, at: now, outdated: outdated) }
        if holds(at: now) {
            if !extra.isEmpty { try await ledger.commit(extra) }
            return
        }
        if progress.watermark.decidedUntil - now > Self.eraStep { try await beginEra(at: now) }
        if progress.watermark.decidedUntil < ClockDoubt.floor, now >= ClockDoubt.floor {
            try await returnToTrustedTime(at: now)
        }
        try await decide(until: now, at: now, with: extra, outdated: outdated)
    }

    /// Decides what has come up to `until`, in the order of names, in as many transactions as it needs.
    private func decide(
        until: Moment, at now: Moment, with extra: [Change] = [], outdated: Set<String>
    ) async throws(LedgerError) {
        var due = book.takeDue(at: until)[...]
        guard !due.isEmpty || !extra.isEmpty || progress.cut != nil else { return }
        var caughtUp = 0
        repeat {
            var batch = SlotBatch(
                watermark: progress.watermark, until: until, now: now, caughtUp: caughtUp, jobs: due.count)
            fill(&batch, from: &due, outdated: outdated)
            do throws(LedgerError) {
                try await commit(batch, isLast: due.isEmpty, joining: due.isEmpty ? extra : [])
            } catch {
                book.restore(batch.decided.map(\.job))
                book.restore(due)
                throw error
            }
            caughtUp = batch.caughtUp
        } while !due.isEmpty
    }

    /// Decides jobs in their order until the batch is full.
    private func fill(
        _ batch: inout SlotBatch, from due: inout ArraySlice<String>, outdated: Set<String>
    ) {
        var late: [String] = []
        var count = 0
        // Nothing changes it meanwhile; a look at it is not one at the actor each time.
        let book = book
        for name in due {
            if let entry = book[name] {
                if entry.chain != nil, runs.census.isBusy(name) {
                    // Somebody ran it by hand: the next run comes after the end of that one.
                    late.append(name)
                } else if !add(entry, to: &batch, isOutdated: outdated.contains(name)) {
                    break
                }
            }
            count += 1
        }
        due.removeFirst(count)
        for name in late { self.book.unchain(name) }
    }

    private func add(_ entry: JobBook.Entry, to batch: inout SlotBatch, isOutdated: Bool) -> Bool {
        batch.add(
            entry, census: runs.census, waiting: waiting, isOutdated: isOutdated, makeID: runs.makeID)
    }

    /// Commits a batch; the watermark follows with the last one of a decision.
    func commit(
        _ batch: SlotBatch, isLast: Bool, joining extra: [Change]
    ) async throws(LedgerError) {
        let next = progress.advanced(by: batch, isLast: isLast)
        let changes = batch.changes(
            reached: next.watermark, cut: next.cut, clears: progress.cut != nil, joining: extra)
        let commit = try await runs.commit(changes, making: batch.runs, to: ledger)
        // All of them, unless a daemon before this one came so far and no farther.
        let made = commit.inserted.count < batch.runs.count ? Set(commit.inserted.map(\.run)) : nil
        for run in batch.runs {
            if let made, !made.contains(run.id) {
                runs.census.ended(run: run.id, of: run.job)
            } else if run.state == .scheduled {
                wait(for: run, at: batch.now)
            }
        }
        note(commit, made: batch.runs, touched: batch.touched)
        for (name, open) in batch.decided { book.advance(name, after: batch.until, joining: open) }
        progress = next
    }

    /// Notes what a commit made and changed, for whoever follows runs.
    func note(_ commit: Commit, made: [RunRecord], touched: [(run: String, job: String)]) {
        runs.note(commit, made: made, touched: touched, waiting: &waiting, at: clock.now)
    }
}
