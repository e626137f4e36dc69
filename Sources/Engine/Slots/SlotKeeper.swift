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
    private enum Command {
        case change(
            [JobEdit], events: [NewEvent], CheckedContinuation<Result<[JobRecord], EngineError>, Never>)
        case request(RunRequest, CheckedContinuation<Result<RequestOutcome, EngineError>, Never>)
    }

    /// At most about this many rows in one transaction.
    package static let batch = 10_000
    /// A clock that went back further than this begins a new era: wall time may repeat.
    package static let eraStep: Duration = .seconds(3 * 3600)
    /// The release of the zone data by which slots were decided last.
    private static let tzdataFact = "tzdata"
    /// How often an edit is planned anew because a run it withdraws was started meanwhile.
    private static let plans = 3

    private let ledger: any Ledger
    private let clock: any WallClock
    private let zones: ZoneLookup
    private let census: RunCensus
    private let makeID: @Sendable () -> String
    private let logger: Logger
    private let alarm = Alarm()
    private var book = JobBook()
    private var watermark: Watermark
    /// The decision that is half done.
    private var cut: SlotCut?
    /// Why some jobs can't be scheduled, by name.
    private var faults: [String: String] = [:]
    private var commands: [Command] = []
    /// The release of the zone data that slots follow.
    private var tzdata: String?
    /// A release to follow from the next turn on; empty: one without a name.
    private var comingTzdata: String?
    private var isStopped = false

    /// Reads the jobs and the watermark; a new ledger's watermark is now.
    package init(
        ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup, census: RunCensus,
        makeID: @escaping @Sendable () -> String, logger: Logger
    ) async throws(LedgerError) {
        self.ledger = ledger
        self.clock = clock
        self.zones = zones
        self.census = census
        self.makeID = makeID
        self.logger = logger
        let stored = try await ledger.watermark()
        self.watermark = stored ?? Watermark(decidedUntil: clock.now, era: 0)
        if stored == nil {
            try await ledger.commit([.moveWatermark(from: watermark, to: watermark)])
        }
        cut = try await ledger.fact(named: SlotCut.fact).flatMap { SlotCut($0) }
        tzdata = try await ledger.fact(named: Self.tzdataFact)
        for record in try await ledger.jobs() { enter(record) }
        for run in try await ledger.activeRuns() where run.state.isActive {
            census.began(run: run.id, of: run.job)
        }
    }

    // MARK: What others ask

    /// Changes jobs: all of `edits` and `events`, or nothing.
    ///
    /// Slots up to now are decided by the old policies first, in the same transaction.
    package func change(
        _ edits: [JobEdit], events: [NewEvent] = []
    ) async throws(EngineError) -> [JobRecord] {
        guard !isStopped else { throw .stopping }
        let result = await withCheckedContinuation { continuation in
            commands.append(.change(edits, events: events, continuation))
            alarm.ring()
        }
        return try result.get()
    }

    /// Makes a run that no schedule asks for.
    package func request(_ request: RunRequest) async throws(EngineError) -> RequestOutcome {
        guard !isStopped else { throw .stopping }
        let result = await withCheckedContinuation { continuation in
            commands.append(.request(request, continuation))
            alarm.ring()
        }
        return try result.get()
    }

    /// Looks every zone up again, because the machine's zone data is, or may be, another release now.
    ///
    /// As with an edit, slots up to now are decided by the rules so far, and the new ones hold from now on.
    package func takeUpZones(release: String?) {
        comingTzdata = release ?? ""
        alarm.ring()
    }

    /// A job in force, with its next slot.
    package func entry(_ name: String) -> JobBook.Entry? { book[name] }

    /// All jobs in force, by name.
    package func entries() -> [JobBook.Entry] {
        book.all.sorted { $0.record.name < $1.record.name }
    }

    /// What status says of jobs and slots; costs the same for ten jobs and ten thousand.
    package func summary() -> SlotSummary {
        SlotSummary(
            jobs: book.count, next: book.earliestAwake(), faults: faults, active: census.count,
            tzdata: tzdata.flatMap { $0.isEmpty ? nil : $0 })
    }

    // MARK: The loop

    /// Decides slots as they come, until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only another start can mend.
    package func run() async throws {
        defer { stop() }
        var failures = 0
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
            let retryAt = failures > 0 ? clock.now + .seconds(min(failures, 30)) : nil
            try await alarm.wait(until: retryAt ?? book.earliest()?.slot, on: clock)
        }
    }

    private func turn() async throws(LedgerError) {
        var failure: LedgerError?
        while !commands.isEmpty || comingTzdata != nil && failure == nil {
            do throws(LedgerError) { try await readZones() } catch { failure = error }
            let waiting = commands
            commands = []
            var requests = RequestBatch()
            for command in waiting {
                switch command {
                case .request(let request, let continuation):
                    requests.add(request, continuation)
                case .change(let edits, let events, let continuation):
                    await answer(&requests)
                    continuation.resume(returning: await apply(edits, events))
                }
            }
            await answer(&requests)
        }
        if let failure { throw failure }
        try await settle(until: clock.now)
    }

    private func stop() {
        isStopped = true
        for command in commands {
            switch command {
            case .change(_, _, let continuation): continuation.resume(returning: .failure(.stopping))
            case .request(_, let continuation): continuation.resume(returning: .failure(.stopping))
            }
        }
        commands = []
    }

    // MARK: Slots

    /// Decides every slot up to `now` and commits the decisions, `extra` with the last of them.
    private func settle(until now: Moment, with extra: [Change] = []) async throws(LedgerError) {
        if let cut { try await decide(until: cut.until, at: now) }
        if watermark.decidedUntil - now > Self.eraStep { try await beginEra(at: now) }
        try await decide(until: now, at: now, with: extra)
    }

    /// Decides what has come up to `until`, in the order of names, in as many transactions as it needs.
    private func decide(
        until: Moment, at now: Moment, with extra: [Change] = []
    ) async throws(LedgerError) {
        var due = book.takeDue(at: until)[...]
        guard !due.isEmpty || !extra.isEmpty || cut != nil else { return }
        repeat {
            var batch = SlotBatch(watermark: watermark, until: until, now: now)
            while batch.count < Self.batch, let name = due.popFirst() {
                if let entry = book[name] { batch.add(entry, census: census, makeID: makeID) }
            }
            do throws(LedgerError) {
                try await commit(batch, isLast: due.isEmpty, joining: due.isEmpty ? extra : [])
            } catch {
                book.restore(batch.decided.map(\.job))
                book.restore(due)
                throw error
            }
        } while !due.isEmpty
    }

    private func commit(
        _ batch: SlotBatch, isLast: Bool, joining extra: [Change]
    ) async throws(LedgerError) {
        var reached = watermark
        if isLast { reached.decidedUntil = max(batch.until, watermark.decidedUntil) }
        let next = isLast ? nil : batch.decided.last.map { SlotCut(until: batch.until, job: $0.job) }
        // Counted before they can be seen: a run may end before this task goes on.
        for run in batch.runs { census.began(run: run.id, of: run.job) }
        do throws(LedgerError) {
            let commit = try await ledger.commit(
                batch.changes(reached: reached, cut: next, clears: cut != nil, joining: extra))
            for run in batch.runs where commit.ordinals[run.id] == nil {
                census.ended(run: run.id, of: run.job)
            }
            tell(commit, made: batch.runs, touched: batch.touched)
        } catch {
            for run in batch.runs { census.ended(run: run.id, of: run.job) }
            throw error
        }
        for (name, open) in batch.decided { book.advance(name, after: batch.until, joining: open) }
        watermark = reached
        cut = next
    }

    /// Tells the keeper of runs which rows to look at.
    private func tell(_ commit: Commit, made: [RunRecord], touched: [(run: String, job: String)]) {
        for (run, job) in touched where commit.passedOver.contains(run) { census.ended(run: run, of: job) }
        if made.isEmpty, touched.isEmpty { return }
        census.note(touched.map(\.run) + made.map(\.id))
    }

    private func beginEra(at now: Moment) async throws(LedgerError) {
        let next = Watermark(decidedUntil: now, era: watermark.era + 1)
        try await ledger.commit([.moveWatermark(from: watermark, to: next)])
        logger.warning("the clock went back; a new era begins", metadata: ["era": "\(next.era)"])
        watermark = next
        book.restart(after: now)
    }

    // MARK: Jobs

    private func apply(_ edits: [JobEdit], _ events: [NewEvent]) async -> Result<[JobRecord], EngineError> {
        var failure = EngineError.stopping
        for _ in 0..<Self.plans {
            do throws(EngineError) {
                return .success(try await apply(edits, events, at: clock.now))
            } catch {
                guard case .ledger(.fenced) = error else { return .failure(error) }
                failure = error
            }
        }
        return .failure(failure)
    }

    private func apply(
        _ edits: [JobEdit], _ events: [NewEvent], at now: Moment
    ) async throws(EngineError) -> [JobRecord] {
        let plan = try await JobPlan(edits, book: book, ledger: ledger, at: now)
        do throws(LedgerError) {
            try await settle(until: now, with: plan.changes + events.map { .append($0) })
        } catch {
            throw .ledger(error)
        }
        for (edit, record) in plan.steps {
            switch edit {
            case .put: enter(record)
            case .remove:
                book.remove(record.name)
                faults[record.name] = nil
            case .pause, .resume: book.setPause(record.pause, of: record.name)
            }
        }
        for run in plan.withdrawn { census.ended(run: run.id, of: run.job) }
        census.note(plan.withdrawn.map(\.id))
        return plan.steps.map(\.record)
    }

    private func enter(_ record: JobRecord) {
        let isDone = cut.map { record.name <= $0.job } ?? false
        let decided = isDone ? cut?.until : nil
        var schedule = Schedule.manual
        var rules = ZoneRules.utc
        faults[record.name] = nil
        do throws(EngineError) {
            (schedule, rules) = try record.spec.schedule.read(seed: record.name, zones: zones)
        } catch {
            faults[record.name] = "\(error)"
            logger.error(
                "a stored job can't be scheduled",
                metadata: ["job.id": "\(record.name)", "reason": "\(error)"])
        }
        book.put(
            record, schedule: schedule, rules: rules, after: decided ?? watermark.decidedUntil,
            fault: faults[record.name])
    }

    /// Takes up the zone data that were announced; they stay announced when that fails.
    private func readZones() async throws(LedgerError) {
        guard let release = comingTzdata else { return }
        try await takeUp(release, at: clock.now)
        if comingTzdata == release { comingTzdata = nil }
    }

    private func takeUp(_ release: String, at now: Moment) async throws(LedgerError) {
        let moved = book.all.filter { entry in
            entry.fault != nil || entry.schedule.zoneName.map { zones($0) != entry.rules } ?? false
        }
        guard release != tzdata || !moved.isEmpty else { return }
        // The fact brings the watermark to now in any case: what passed under the old rules stays decided.
        try await settle(until: now, with: [.setFact(name: Self.tzdataFact, value: release)])
        if tzdata != nil {
            logger.notice(
                "zone data changed",
                metadata: [
                    "tzdata": "\(release)", "tzdata.before": "\(tzdata ?? "")",
                    "jobs.changed": "\(moved.count)",
                ])
        }
        tzdata = release
        for entry in moved {
            if let record = book[entry.record.name]?.record { enter(record) }
        }
    }

    // MARK: Requests

    /// Makes the runs that were asked for, all in one transaction.
    private func answer(_ requests: inout RequestBatch) async {
        guard !requests.isEmpty else { return }
        let batch = requests
        requests = RequestBatch()
        do throws(LedgerError) {
            let now = clock.now
            try await settle(until: now)
            let decided = try await batch.decide(
                book: book, census: census, ledger: ledger, era: watermark.era, makeID: makeID, at: now)
            if decided.runs.isEmpty { return decided.answer(Commit(lastEvent: 0)) }
            for run in decided.runs { census.began(run: run.id, of: run.job) }
            do throws(LedgerError) {
                let commit = try await ledger.commit(decided.changes)
                tell(commit, made: decided.runs, touched: decided.touched)
                decided.answer(commit)
            } catch {
                for run in decided.runs { census.ended(run: run.id, of: run.job) }
                throw error
            }
        } catch {
            batch.refuse(.ledger(error))
        }
    }
}

extension LedgerError {
    /// Whether somebody else moved the watermark: what this keeper knows of slots is not true any more.
    fileprivate var isAboutWatermark: Bool {
        if case .fenced(index: 0, _) = self { return true }
        return false
    }
}
