import Cron
import Ledger
import Timeline
import Tracking

// Runs of requests, of the end of the run before and of the start of the machine; and those that wait for their spread.

extension SlotKeeper {
    /// The boot whose `startup` runs are made.
    private static let bootFact = "slots.boot"

    // MARK: Requests

    /// Makes the runs that were asked for, all in one transaction.
    func answer(_ requests: inout RequestBatch) async {
        guard !requests.isEmpty else { return }
        let batch = requests
        requests = RequestBatch()
        do throws(LedgerError) {
            let now = clock.now
            try await settle(until: now)
            let decided = try await batch.decide(
                book: book, census: runs.census, ledger: ledger, era: progress.watermark.era,
                makeID: runs.makeID,
                at: now)
            if decided.runs.isEmpty { return decided.answer(Commit(lastEvent: 0)) }
            let commit = try await runs.commit(decided.changes, making: decided.runs, to: ledger)
            note(commit, made: decided.runs, touched: decided.touched)
            decided.answer(commit)
        } catch {
            batch.refuse(.ledger(error))
        }
    }

    // MARK: Runs that wait for their spread or their delay

    /// Starts the run when its moment has come.
    func wait(for run: RunRecord, at now: Moment) {
        let job = book[run.job]
        let wait =
            (job?.policies.spread ?? .zero) + (run.slot == nil ? job?.schedule.startupDelay ?? .zero : .zero)
        waiting.add(run, longest: max(wait, SlotDelay.longestPace), at: now)
    }

    /// Queues the runs whose moment has come.
    func startWaiting() async throws(LedgerError) {
        while true {
            let due = waiting.takeDue(at: clock.now, limit: Self.batch)
            guard !due.isEmpty else { return }
            // One that was cancelled meanwhile is given up.
            var shared = SharedCommit(due)
            while let entries = shared.next {
                do throws(LedgerError) {
                    try await start(entries, of: due)
                    shared.committed()
                } catch {
                    guard case .fenced = error else {
                        waiting.restore(Array(shared.rest))
                        throw error
                    }
                    shared.refused()
                }
            }
        }
    }

    /// Queues some of those that are `due` at once, in one transaction; with ``OverlapPolicy/replace`` the runs
    /// before them end now, and not when the slot was decided.
    private func start(
        _ entries: [WaitingRuns.Entry], of due: [WaitingRuns.Entry]
    ) async throws(LedgerError) {
        var replaced: [Change] = []
        var touched: [(run: String, job: String)] = []
        var starting: Set<String>?
        for entry in entries {
            guard let policies = book[entry.job]?.policies, policies.overlap == .replace else { continue }
            let peers = starting ?? Set(due.map(\.run))
            starting = peers
            let others = runs.census.runs(of: entry.job).filter { !peers.contains($0) && waiting[$0] == nil }
            touched += others.map { ($0, entry.job) }
            replaced += policies.overlap.changes(
                for: others, of: entry.job, bot: policies.bot, startsNow: true, at: clock.now)
        }
        let commit = try await ledger.commit(entries.map(\.start) + replaced)
        note(commit, made: [], touched: touched)
        runs.note(changed: entries.map(\.run))
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
}

extension WaitingRuns.Entry {
    /// The change by which the run is queued; its moment stays beside it.
    fileprivate var start: Change {
        var move = RunMove(run: run, from: [.scheduled], attempt: attempt, to: .queued)
        move.notBefore = notBefore
        return .moveRun(move)
    }
}
