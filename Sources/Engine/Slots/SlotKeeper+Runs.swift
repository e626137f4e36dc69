import Cron
import Ledger
import Timeline
import Tracking

// Runs of requests, of the end of the run before and of the start of the machine.

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

/// Requests for runs that came while the keeper was busy: decided one after the other, committed together.
struct RequestBatch {
    typealias Caller = CheckedContinuation<Result<RequestOutcome, EngineError>, Never>

    /// The outcome of each request, once the runs are in the ledger.
    struct Decided {
        fileprivate(set) var runs: [RunRecord] = []
        /// The earlier runs of their jobs that give way, or are to end.
        fileprivate(set) var touched: [(run: String, job: String)] = []
        /// What changes in those earlier runs.
        fileprivate var giveWay: [Change] = []
        fileprivate var answers: [(outcome: RequestOutcome, caller: Caller)] = []

        var changes: [Change] { runs.map { .insertRun($0, orIgnore: false) } + giveWay }

        fileprivate mutating func touch(
            _ others: [String], _ overlap: OverlapPolicy, of job: String, bot: String, at now: Moment
        ) {
            guard overlap.touchesOthers else { return }
            touched += others.map { ($0, job) }
            giveWay += overlap.changes(for: others, of: job, bot: bot, startsNow: true, at: now)
        }

        /// Answers every caller.
        func answer(_ commit: Commit) {
            let ordinals = commit.ordinals
            for (outcome, caller) in answers {
                caller.resume(returning: .success(outcome.numbered(by: ordinals)))
            }
        }
    }

    private var requests: [(request: RequestedRun, caller: Caller)] = []

    var isEmpty: Bool { requests.isEmpty }

    mutating func add(_ request: RequestedRun, _ caller: Caller) {
        requests.append((request, caller))
    }

    /// Refuses all of them.
    func refuse(_ error: EngineError) {
        for (_, caller) in requests { caller.resume(returning: .failure(error)) }
    }

    /// Decides each request as if those before it were granted already.
    func decide(
        book: JobBook, census: RunCensus, ledger: any Ledger, era: Int, makeID: () -> String, at now: Moment
    ) async throws(LedgerError) -> Decided {
        var decided = Decided()
        var causes: [String: RunRecord] = [:]
        var busy: [String: [String]] = [:]
        for (request, caller) in requests {
            // A wrapped command may be filed under another name when it is sent again: its cause is its own.
            let isOwn = request.spec != nil
            let key = isOwn ? request.cause : "\(request.job) \(request.cause)"
            let stored = book[request.job]
            let outcome: RequestOutcome
            if let run = causes[key] {
                outcome = .known(run)
            } else if let run = isOwn
                ? try await ledger.run(cause: request.cause)
                : try await ledger.run(job: request.job, cause: request.cause)
            {
                outcome = .known(run)
            } else if let policies = request.spec.map(SlotPolicies.init) ?? stored?.policies {
                let others = census.runs(of: request.job).sorted() + (busy[request.job] ?? [])
                let overlap = request.force || isOwn ? .allow : policies.overlap
                if !others.isEmpty, overlap == .skip {
                    outcome = .busy(others)
                } else {
                    decided.touch(others, overlap, of: request.job, bot: policies.bot, at: now)
                    let run = RunRecord(
                        request, id: makeID(), of: policies.bot, era: era, stored?.revision, at: now)
                    causes[key] = run
                    busy[request.job, default: []].append(run.id)
                    decided.runs.append(run)
                    outcome = .queued(run)
                }
            } else {
                outcome = .noSuchJob
            }
            decided.answers.append((outcome, caller))
        }
        return decided
    }
}

extension RunRecord {
    /// The run that a request makes.
    fileprivate init(
        _ request: RequestedRun, id: String, of bot: String, era: Int, _ revision: Int?, at now: Moment
    ) {
        self.init(
            id: id, job: request.job, bot: bot, kind: request.kind, cause: request.cause, era: era,
            queuedAt: now, revision: revision ?? 0)
        isForced = request.force
        retryOf = request.retryOf
        spec = request.spec
    }
}

extension RequestOutcome {
    /// The same with the ordinals that the ledger gave.
    fileprivate func numbered(by ordinals: [String: Int]) -> RequestOutcome {
        func numbered(_ run: RunRecord) -> RunRecord {
            var run = run
            if let ordinal = ordinals[run.id] { run.ordinal = ordinal }
            return run
        }
        switch self {
        case .queued(let run): return .queued(numbered(run))
        case .known(let run): return .known(numbered(run))
        case .busy, .noSuchJob: return self
        }
    }
}
