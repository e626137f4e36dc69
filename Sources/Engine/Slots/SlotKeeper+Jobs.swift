import Cron
import Ledger
import Logging
import Timeline
import Tracking

extension SlotKeeper {
    /// How often an edit is planned again because a run it withdraws was started meanwhile.
    private static let plans = 3
    /// The boot whose `startup` runs are made.
    private static let bootFact = "slots.boot"

    // MARK: Edits

    /// Makes the edits; `afterStop`: they were made while no daemon ran.
    func apply(
        _ edits: [JobEdit], _ events: [NewEvent] = [], afterStop: Bool = false
    ) async -> Result<[JobRecord], EngineError> {
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
        do throws(LedgerError) {
            try await settle(
                until: now, with: plan.changes + events.map { .append($0) },
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

    // MARK: After the last end

    /// Finds when the jobs run next that run after their last end, of those that are not at it.
    ///
    /// The first run is due at once, and so is one whose end lies in a future that a set-back clock took away,
    /// after its interval.
    func followEnds() async throws(LedgerError) {
        for name in book.unchained {
            guard let entry = book[name], case .after(let interval) = entry.schedule else {
                book.rechain(name)
                continue
            }
            guard !runs.census.isBusy(name) else {
                runs.census.awaitEnd(of: name)
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
        }
    }

    // MARK: After the start of the machine

    /// Makes the runs of the jobs that run once after each start of the machine, unless that was done.
    func makeRuns(ofBoot boot: String) async -> Result<Void, EngineError> {
        do throws(LedgerError) {
            if try await ledger.fact(named: Self.bootFact) == boot { return .success(()) }
            try await settle(until: clock.now)
            var rest = book.namesOfStarts[...]
            repeat {
                // The cause keeps a second try, after a crash between two parts, from doubling the first.
                var batch = SlotBatch(
                    watermark: progress.watermark, until: progress.watermark.decidedUntil, now: clock.now)
                for entry in rest.prefix(Self.batch / 2 - 2).compactMap({ book[$0] }) {
                    let isBusy = entry.policies.overlap == .skip && runs.census.isBusy(entry.name)
                    batch.add(startOf: boot, entry, isBusy: isBusy, makeID: runs.makeID)
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
