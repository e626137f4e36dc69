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

    /// At most this many rows in one transaction.
    package static let batch = 10_000
    /// A clock that went back further than this begins a new era: wall time may repeat.
    package static let eraStep: Duration = .seconds(3 * 3600)

    private let ledger: any Ledger
    private let clock: any WallClock
    private let zones: ZoneLookup
    private let census: RunCensus
    private let makeID: @Sendable () -> String
    private let logger: Logger
    private let alarm = Alarm()
    private var book = JobBook()
    private var watermark: Watermark
    private var commands: [Command] = []
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
        for record in try await ledger.jobs() { enter(record) }
        for run in try await ledger.activeRuns() { census.began(run: run.id, of: run.job) }
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

    /// A job in force, with its next slot.
    package func entry(_ name: String) -> JobBook.Entry? { book[name] }

    /// All jobs in force, by name.
    package func entries() -> [JobBook.Entry] {
        book.all.sorted { $0.record.name < $1.record.name }
    }

    /// The slot that comes next, of all jobs that are not paused.
    package func nextSlot() -> (slot: Moment, job: String)? {
        book.all
            .compactMap { entry in
                entry.record.pause == nil ? entry.next.map { ($0, entry.record.name) } : nil
            }
            .min { $0 < $1 }
            .map { (slot: $0.0, job: $0.1) }
    }

    // MARK: The loop

    /// Decides slots as they come, until cancelled.
    package func run() async throws {
        defer { stop() }
        var failures = 0
        while true {
            do {
                try await turn()
                failures = 0
            } catch {
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
        while !commands.isEmpty {
            switch commands.removeFirst() {
            case .change(let edits, let events, let continuation):
                continuation.resume(returning: await apply(edits, events))
            case .request(let request, let continuation):
                continuation.resume(returning: await queue(request))
            }
        }
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
    @discardableResult
    private func settle(until now: Moment, with extra: [Change] = []) async throws(LedgerError) -> Commit {
        if watermark.decidedUntil - now > Self.eraStep { try await beginEra(at: now) }
        while true {
            var batch = SlotBatch(watermark: watermark, now: now)
            while batch.count < Self.batch, let due = book.popDue(at: now) {
                batch.add(due.entry, census: census, makeID: makeID)
            }
            let isLast = (book.earliest()?.slot ?? .distantFuture) > now
            let changes = batch.changes(
                before: book.earliest()?.slot, joining: isLast ? extra : [])
            guard !changes.isEmpty else { return Commit(lastEvent: 0) }
            do {
                let commit = try await ledger.commit(changes)
                for run in batch.runs where commit.ordinals[run.id] != nil {
                    census.began(run: run.id, of: run.job)
                }
                for (name, open) in batch.decided { book.advance(name, after: now, joining: open) }
                watermark = batch.reached(before: book.earliest()?.slot)
                if isLast { return commit }
            } catch {
                for (name, _) in batch.decided {
                    book.advance(name, after: watermark.decidedUntil, joining: nil)
                }
                throw error
            }
        }
    }

    private func beginEra(at now: Moment) async throws(LedgerError) {
        let next = Watermark(decidedUntil: now, era: watermark.era + 1)
        try await ledger.commit([.moveWatermark(from: watermark, to: next)])
        logger.warning("the clock went back; a new era begins", metadata: ["era": "\(next.era)"])
        watermark = next
        for entry in book.all { book.advance(entry.record.name, after: now, joining: nil) }
    }

    // MARK: Jobs

    private func apply(_ edits: [JobEdit], _ events: [NewEvent]) async -> Result<[JobRecord], EngineError> {
        do {
            let now = clock.now
            var changes: [Change] = []
            var records: [JobRecord] = []
            for edit in edits {
                let (change, record) = try await plan(edit, at: now)
                changes.append(change)
                records.append(record)
            }
            changes += events.map { .append($0) }
            try await settle(until: now, with: changes)
            for (edit, record) in zip(edits, records) {
                switch edit {
                case .put: enter(record)
                case .remove: book.remove(record.name)
                case .pause, .resume: book.setPause(record.pause, of: record.name)
                }
            }
            return .success(records)
        } catch let error as EngineError {
            return .failure(error)
        } catch let error as LedgerError {
            return .failure(.ledger(error))
        } catch {
            return .failure(.stopping)
        }
    }

    private func plan(_ edit: JobEdit, at now: Moment) async throws -> (Change, JobRecord) {
        let stored = book[edit.job]?.record
        switch edit {
        case .put(let spec, let origin, let place):
            var record = JobRecord(
                spec: spec, origin: origin, place: place, revision: 0, since: now, pause: stored?.pause)
            if let stored {
                let isSame = stored.spec == spec
                record.revision = isSame ? stored.revision : stored.revision + 1
                if isSame { record.since = stored.since }
            } else {
                record.revision = try await ledger.lastRevision(of: spec.name) + 1
            }
            return (.putJob(record, replacing: stored?.revision), record)
        case .remove(let name):
            guard let stored else { throw EngineError.noSuchJob(name) }
            return (.removeJob(name: name, revision: stored.revision), stored)
        case .pause(let name, let note):
            guard var stored else { throw EngineError.noSuchJob(name) }
            stored.pause = Pause(since: now, note: note)
            return (.pauseJob(name: name, stored.pause), stored)
        case .resume(let name):
            guard var stored else { throw EngineError.noSuchJob(name) }
            stored.pause = nil
            return (.pauseJob(name: name, nil), stored)
        }
    }

    private func enter(_ record: JobRecord) {
        do {
            let schedule = try record.spec.schedule.schedule(seed: record.name)
            let zone = schedule.zoneName ?? record.spec.schedule.zone
            guard let rules = zones(zone) else { throw EngineError.noSuchZone(zone) }
            book.put(record, schedule: schedule, rules: rules, after: watermark.decidedUntil)
        } catch {
            logger.error(
                "a stored job can't be scheduled",
                metadata: ["job.id": "\(record.name)", "reason": "\(error)"])
        }
    }

    // MARK: Requests

    private func queue(_ request: RunRequest) async -> Result<RequestOutcome, EngineError> {
        do throws(LedgerError) {
            let stored = book[request.job]?.record
            guard let spec = request.spec ?? stored?.spec else { return .success(.noSuchJob) }
            if let known = try await ledger.run(job: request.job, cause: request.cause) {
                return .success(.known(known))
            }
            if !request.force, request.spec == nil, census.isBusy(request.job) {
                return .success(.busy(census.runs(of: request.job).sorted()))
            }
            let now = clock.now
            var run = RunRecord(
                id: makeID(), job: request.job, bot: spec.bot, kind: request.kind, cause: request.cause,
                era: watermark.era, queuedAt: now, revision: stored?.revision ?? 0)
            run.retryOf = request.retryOf
            run.spec = request.spec
            let commit = try await settle(until: now, with: [.insertRun(run, orIgnore: false)])
            run.ordinal = commit.ordinals[run.id] ?? 0
            census.began(run: run.id, of: run.job)
            return .success(.queued(run))
        } catch {
            return .failure(.ledger(error))
        }
    }
}
