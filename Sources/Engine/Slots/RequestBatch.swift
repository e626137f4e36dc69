import Ledger
import Timeline
import Tracking

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
