import Cron
import Delivery
import Ledger
import Logging
import Timeline
import Tracking

extension SlotKeeper {
    /// How often an edit is planned again because a run it withdraws was started meanwhile.
    private static let plans = 3

    // MARK: Edits

    /// Makes the edits; `afterStop`: they were made while no daemon ran.
    func apply(
        _ edits: [JobEdit], with more: [Change] = [], afterStop: Bool = false
    ) async -> Result<[JobRecord], EngineError> {
        var failure = EngineError.stopping
        for _ in 0..<Self.plans {
            do throws(EngineError) {
                return .success(try await apply(edits, with: more, afterStop: afterStop, at: clock.now))
            } catch {
                guard case .ledger(.fenced) = error else { return .failure(error) }
                failure = error
            }
        }
        return .failure(failure)
    }

    private func apply(
        _ edits: [JobEdit], with more: [Change], afterStop: Bool, at now: Moment
    ) async throws(EngineError) -> [JobRecord] {
        let stored = try await stored(edits)
        let plan = try await JobPlan(
            edits, stored: stored, ledger: ledger, afterStop: afterStop, at: now)
        do throws(LedgerError) {
            try await settle(
                until: now, with: plan.changes + more,
                outdated: afterStop ? plan.outdated(of: stored) : [])
        } catch {
            throw .ledger(error)
        }
        for (edit, record) in plan.steps {
            switch edit {
            case .add, .revise, .put: enter(SlotJob(record))
            case .remove:
                book.remove(record.name)
                schedules.forget(record.name)
            case .pause, .resume:
                book.setPaused(record.pause != nil, of: record.name)
                book.rechain(record.name)
            }
        }
        runs.note(withdrawn: plan.withdrawn)
        return plan.steps.map(\.record)
    }

    /// What the ledger holds of the jobs that are edited.
    private func stored(_ edits: [JobEdit]) async throws(EngineError) -> [String: JobRecord] {
        let names = Set(edits.map(\.job).filter(book.contains))
        if names.isEmpty { return [:] }
        do throws(LedgerError) {
            let records = try await ledger.jobs(named: names)
            return Dictionary(uniqueKeysWithValues: records.map { ($0.name, $0) })
        } catch {
            throw .ledger(error)
        }
    }

    /// Enters all jobs of the ledger, each part while the next one is read.
    func readJobs() async throws(LedgerError) {
        var jobs = try await ledger.slotJobs(after: "", limit: Self.page)
        while jobs.count == Self.page, let last = jobs.last?.name {
            let next = Task { [ledger] () async -> Result<[SlotJob], LedgerError> in
                do throws(LedgerError) {
                    return .success(try await ledger.slotJobs(after: last, limit: Self.page))
                } catch {
                    return .failure(error)
                }
            }
            for job in jobs { enter(job) }
            jobs = try await next.value.get()
        }
        for job in jobs { enter(job) }
    }

    func enter(_ job: SlotJob) {
        let (schedule, rules) = schedules.read(job)
        book.put(job, schedule: schedule, rules: rules, after: progress.decidedUntil(for: job.name))
        book.rechain(job.name)
    }

    // MARK: Zone data

    /// Follows the zone data that were announced; they stay announced when that fails.
    func readZones() async throws(LedgerError) {
        guard let release = schedules.announced else { return }
        try await follow(release, at: clock.now)
        schedules.settle(release)
    }

    private func follow(_ release: String, at now: Moment) async throws(LedgerError) {
        let changed = book.changedZones(schedules.zones)
        let (previous, faults) = (schedules.release, schedules.faults)
        guard release != previous || !changed.isEmpty || !faults.isEmpty else { return }
        let faulty = try await ledger.jobs(named: faults.keys.sorted())
        // The fact brings the watermark to now in any case: what passed under the old rules stays decided.
        try await settle(until: now, with: [.setFact(name: Self.tzdataFact, value: release)])
        var moved = faulty.count
        for (zone, rules) in changed {
            if let rules {
                moved += book.follow(rules, of: zone, after: progress.watermark.decidedUntil)
            } else {
                for name in book.forget(zone: zone) {
                    schedules.note(.noSuchZone(zone), of: name)
                    moved += 1
                }
            }
        }
        for record in faulty { enter(SlotJob(record)) }
        // The first release that is taken up is news only when jobs were read by the data before it.
        if previous != nil || moved > 0 {
            logger.notice(
                "zone data changed",
                metadata: [
                    "tzdata": "\(release)", "tzdata.before": "\(previous ?? "")", "jobs.changed": "\(moved)",
                ])
        }
        schedules.follow(release)
    }
}

/// What edits of jobs come to: the changes of the ledger, and what the book does once they are made.
struct JobPlan {
    private(set) var changes: [Change] = []
    private(set) var steps: [(edit: JobEdit, record: JobRecord)] = []
    /// Runs that had not been started and end with their job, or with its old definition.
    private(set) var withdrawn: [RunRecord] = []
    private let afterStop: Bool

    /// Plans `edits` on top of what is `stored` of their jobs, by name; all of them or none.
    ///
    /// Those that were made `afterStop`, while no daemon ran, let the old definitions start nothing any more.
    init(
        _ edits: [JobEdit], stored jobs: [String: JobRecord], ledger: any Ledger, afterStop: Bool = false,
        at now: Moment
    ) async throws(EngineError) {
        self.afterStop = afterStop
        for edit in edits {
            let stored = jobs[edit.job]
            try Self.checkOwner(of: stored, edit)
            do throws(LedgerError) {
                try await add(edit, stored, ledger, at: now)
            } catch {
                throw .ledger(error)
            }
            if steps.last?.edit != edit { throw .noSuchJob(edit.job) }
        }
    }

    /// Files and people never take a job from each other, and nobody takes one unawares, also when two do it at
    /// the same time.
    private static func checkOwner(of stored: JobRecord?, _ edit: JobEdit) throws(EngineError) {
        switch (edit, stored) {
        case (.add, let stored?):
            throw .nameTaken(stored.name, place: stored.place)
        case (.revise(let spec, _), nil):
            throw .noSuchJob(spec.name)
        case (.revise(_, let revision), let stored?) where stored.revision != revision:
            throw .changedMeanwhile(stored.name)
        case (.put(_, let origin, _), let stored?) where (stored.origin == .file) != (origin == .file):
            guard stored.origin == .file else { throw .nameTaken(stored.name) }
            throw .ownedByFile(job: stored.name, place: stored.place ?? "")
        default: return
        }
    }

    private mutating func add(
        _ edit: JobEdit, _ stored: JobRecord?, _ ledger: any Ledger, at now: Moment
    ) async throws(LedgerError) {
        switch edit {
        case .add(let spec, let origin, let place):
            try await put(spec, stored, origin: origin, place: place, edit, ledger, at: now)
        case .revise(let spec, _):
            let origin = stored?.origin ?? .cli
            try await put(spec, stored, origin: origin, place: stored?.place, edit, ledger, at: now)
        case .put(let spec, let origin, let place):
            try await put(spec, stored, origin: origin, place: place, edit, ledger, at: now)
        case .remove(let name):
            guard let stored else { return }
            changes.append(.removeJob(name: name, revision: stored.revision))
            if stored.origin == .file, let pause = stored.pause {
                changes.append(.setFact(name: Pause.fact(of: name), value: pause.text))
            }
            for run in try await waiting(of: name, ledger) { withdraw(run, .jobRemoved, at: now) }
            steps.append((edit, stored))
        case .pause(let name, let note):
            guard var stored else { return }
            stored.pause = Pause(since: now, note: note)
            changes.append(.pauseJob(name: name, stored.pause))
            steps.append((edit, stored))
        case .resume(let name):
            guard var stored else { return }
            stored.pause = nil
            changes.append(.pauseJob(name: name, nil))
            steps.append((edit, stored))
        }
    }

    /// A job that a file drops and names again is as still as it was: its pause is no configuration.
    private mutating func restorePause(of record: inout JobRecord, _ ledger: any Ledger)
        async throws(LedgerError)
    {
        let fact = Pause.fact(of: record.name)
        guard record.origin == .file, let kept = try await ledger.fact(named: fact) else { return }
        record.pause = Pause(kept)
        changes.append(.setFact(name: fact, value: nil))
    }

    private mutating func put(
        _ written: JobSpec, _ stored: JobRecord?, origin: JobOrigin, place: String?, _ edit: JobEdit,
        _ ledger: any Ledger, at now: Moment
    ) async throws(LedgerError) {
        let spec = Self.anchored(written, stored, at: now)
        var record = JobRecord(
            spec: spec, origin: origin, place: place, revision: 0, since: now, pause: stored?.pause)
        if let stored {
            let isSame = stored.spec == spec
            record.revision = isSame ? stored.revision : stored.revision + 1
            if isSame { record.since = stored.since }
            if !isSame, afterStop {
                // A person's request, and a run whose first attempt was made, stay.
                for run in try await waiting(of: spec.name, ledger)
                where run.kind == .scheduled && run.attempt == 1 {
                    withdraw(run, .definitionChanged, at: now)
                }
            }
        } else {
            record.revision = try await ledger.lastRevision(of: spec.name) + 1
            try await restorePause(of: &record, ledger)
        }
        changes.append(.putJob(record, replacing: stored?.revision))
        steps.append((edit, record))
    }

    /// The spec with the anchor of its grid: from now on, or where it has been while the schedule stays the same.
    private static func anchored(_ written: JobSpec, _ stored: JobRecord?, at now: Moment) -> JobSpec {
        var spec = written
        spec.schedule.note(
            made: now, replacing: stored?.spec.schedule, activeSince: stored?.since ?? now)
        return spec
    }

    /// The jobs of which another revision is active afterwards than is `stored`, or none.
    func outdated(of stored: [String: JobRecord]) -> Set<String> {
        let changed = steps.filter { edit, record in
            if case .remove = edit { return true }
            return stored[record.name]?.revision != record.revision
        }
        return Set(changed.map(\.record.name))
    }

    private func waiting(of job: String, _ ledger: any Ledger) async throws(LedgerError) -> [RunRecord] {
        try await ledger.runs(RunFilter(job: job, states: [.scheduled, .queued])).filter { $0.spec == nil }
    }

    /// A run that waits goes with its job; one that was started goes on.
    private mutating func withdraw(_ run: RunRecord, _ reason: RunReason, at now: Moment) {
        var move = RunMove(run, from: [.scheduled, .queued], to: .canceled, reason: reason)
        move.endedAt = now
        changes += [
            .moveRun(move),
            .append(
                NewEvent(.runCanceled(Fact.End(Fact.Run(run), reason: reason)), at: now)),
        ]
        withdrawn.append(run)
    }
}

/// How a pause is kept while its job is in no file.
extension Pause {
    fileprivate static func fact(of job: String) -> String { "pause of \(job)" }

    /// The microseconds since 1970, and the note after a space.
    fileprivate var text: String { "\(since.microseconds)" + (note.map { " \($0)" } ?? "") }

    fileprivate init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let microseconds = Int64(parts[0]) else { return nil }
        self.init(since: Moment(microseconds: microseconds), note: parts.count > 1 ? String(parts[1]) : nil)
    }
}
