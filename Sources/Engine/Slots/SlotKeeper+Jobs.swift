import Cron
import Ledger
import Logging
import Timeline
import Tracking

extension SlotKeeper {
    /// How often an edit is planned anew because a run it withdraws was started meanwhile.
    private static let plans = 3
    /// The boot whose `startup` runs are made.
    private static let bootFact = "slots.boot"

    // MARK: Edits

    /// Makes the edits; `afterStop`: they were made while no daemon ran.
    func apply(
        _ edits: [JobEdit], _ events: [NewEvent] = [], afterStop: Bool = false
    ) async -> Result<[JobRecord], EngineError> {
        defer { outdated = [] }
        var failure = EngineError.stopping
        for _ in 0..<Self.plans {
            do throws(EngineError) {
                return .success(try await apply(edits, events, afterStop: afterStop, at: clock.now))
            } catch {
                guard case .ledger(.fenced) = error else { return .failure(error) }
                failure = error
            }
        }
        return .failure(failure)
    }

    private func apply(
        _ edits: [JobEdit], _ events: [NewEvent], afterStop: Bool, at now: Moment
    ) async throws(EngineError) -> [JobRecord] {
        let stored = try await stored(edits)
        let plan = try await JobPlan(
            edits, stored: stored, ledger: ledger, afterStop: afterStop, at: now)
        if afterStop { outdated = plan.outdated(of: stored) }
        do throws(LedgerError) {
            try await settle(until: now, with: plan.changes + events.map { .append($0) })
        } catch {
            throw .ledger(error)
        }
        for (edit, record) in plan.steps {
            switch edit {
            case .add, .revise, .put: enter(SlotJob(record))
            case .remove:
                book.remove(record.name)
                unchained.remove(record.name)
                faults[record.name] = nil
            case .pause, .resume:
                book.setPaused(record.pause != nil, of: record.name)
                rechain(record.name)
            }
        }
        for run in plan.withdrawn { census.ended(run: run.id, of: run.job) }
        notes.add(changed: plan.withdrawn.map(\.id))
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

    /// Puts all jobs of the ledger in force, each part while the next one is read.
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
        let isDone = cut.map { job.name <= $0.job } ?? false
        let decided = isDone ? cut?.until : nil
        var schedule = Schedule.manual
        var rules = ZoneRules.utc
        faults[job.name] = nil
        do throws(EngineError) {
            (schedule, rules) = try job.schedule.read(seed: job.name, since: job.since, zones: zones)
        } catch {
            note(error, of: job.name)
        }
        book.put(job, schedule: schedule, rules: rules, after: decided ?? watermark.decidedUntil)
        rechain(job.name)
    }

    /// Why a job can't be scheduled.
    func note(_ fault: EngineError, of name: String) {
        faults[name] = "\(fault)"
        logger.error(
            "a stored job can't be scheduled", metadata: ["job.id": "\(name)", "reason": "\(fault)"])
    }

    // MARK: After the last end

    /// The moment of a job's run after its last end is found anew, unless it is paused.
    private func rechain(_ name: String) {
        unchained.remove(name)
        guard let entry = book[name], case .after = entry.schedule else { return }
        book.unchain(name)
        if !entry.isPaused { unchained.insert(name) }
    }

    /// Finds when the jobs run next that run after their last end, of those that are not at it.
    ///
    /// The first run is due at once, and so is one whose end lies in a future that a set-back clock took away,
    /// after its interval.
    func followEnds() async throws(LedgerError) {
        for name in unchained {
            guard let entry = book[name], case .after(let interval) = entry.schedule else {
                unchained.remove(name)
                continue
            }
            guard !census.isBusy(name) else {
                census.ring(whenIdle: name) { [alarm] in alarm.ring() }
                continue
            }
            let last = try await ledger.runs(RunFilter(job: name, limit: 1)).first
            let now = clock.now
            if let last {
                guard last.state.isEnded else { continue }
                let due = min((last.endedAt ?? now) + interval, now + interval)
                book.chain(name, at: due, by: RunCause.after(last.id))
            } else {
                book.chain(name, at: now, by: RunCause.after("start-\(entry.revision)"))
            }
            unchained.remove(name)
        }
    }

    // MARK: After the start of the machine

    /// Makes the runs of the jobs that run once after each start of the machine, unless that was done.
    func start(_ boot: String) async -> Result<Void, EngineError> {
        do throws(LedgerError) {
            if try await ledger.fact(named: Self.bootFact) == boot { return .success(()) }
            try await settle(until: clock.now)
            var rest = book.names(on: .startup)[...]
            repeat {
                // The cause keeps a second try, after a crash between two parts, from doubling the first.
                var batch = SlotBatch(watermark: watermark, until: watermark.decidedUntil, now: clock.now)
                for entry in rest.prefix(Self.batch / 2 - 2).compactMap({ book[$0] }) {
                    let isBusy = entry.policies.overlap == .skip && census.isBusy(entry.name)
                    batch.add(startOf: boot, entry, isBusy: isBusy, makeID: makeID)
                }
                rest = rest.dropFirst(Self.batch / 2 - 2)
                try await commit(
                    batch, isLast: true,
                    joining: rest.isEmpty ? [.setFact(name: Self.bootFact, value: boot)] : [])
            } while !rest.isEmpty
            return .success(())
        } catch {
            return .failure(.ledger(error))
        }
    }
}
