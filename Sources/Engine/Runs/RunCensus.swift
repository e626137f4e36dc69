import Synchronization

/// How many runs of each job have not ended: a count of ledger rows, kept so that no decision must ask for it.
///
/// Filled from the ledger at start; whoever commits a run's end says so here after the commit, and whoever commits its
/// beginning before it: an end may be on its way before the one who began the run goes on.
package final class RunCensus: Sendable {
    private let active = Mutex<[String: Set<String>]>([:])

    package init() {}

    /// Counts a run that was queued.
    package func began(run: String, of job: String) {
        active.withLock { _ = $0[job, default: []].insert(run) }
    }

    /// No longer counts a run.
    package func ended(run: String, of job: String) {
        active.withLock { active in
            active[job]?.remove(run)
            if active[job]?.isEmpty == true { active[job] = nil }
        }
    }

    /// How many runs have not ended.
    package var count: Int {
        active.withLock { active in active.values.reduce(0) { $0 + $1.count } }
    }

    /// Whether a run of the job is under way or waits.
    package func isBusy(_ job: String) -> Bool {
        active.withLock { $0[job] != nil }
    }

    /// The ids of the job's runs that have not ended.
    package func runs(of job: String) -> Set<String> {
        active.withLock { $0[job] ?? [] }
    }
}
