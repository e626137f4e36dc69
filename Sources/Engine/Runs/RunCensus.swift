package import Ledger
import Synchronization

/// How many runs of each job have not ended: a count of ledger rows, kept so that no decision must ask for it.
///
/// Filled from the ledger at start; whoever commits a run's end counts it here after the commit, and whoever commits its
/// beginning before it: an end may be on its way before the one who began the run goes on.
package final class RunCensus: Sendable {
    private struct State {
        var active: [String: OpenRuns] = [:]
    }

    private let state = Mutex(State())
    private let bells = Mutex<[String: @Sendable () -> Void]>([:])

    package init() {}

    /// Counts runs that are queued, or are about to be.
    package func began(_ runs: [RunRecord]) {
        state.withLock { state in
            if runs.count > 64 { state.active.reserveCapacity(state.active.count + runs.count) }
            // By index: a record is not copied for two of its fields.
            for index in runs.indices { state.active[runs[index].job, default: .none].insert(runs[index].id) }
        }
    }

    /// No longer counts a run.
    package func ended(run: String, of job: String) {
        state.withLock { state in
            state.active[job]?.remove(run)
            if state.active[job]?.count == 0 { state.active[job] = nil }
        }
        if !isBusy(job) { bells.withLock { $0.removeValue(forKey: job) }?() }
    }

    /// Calls `body` once when no run of the job is under way or waits any more; at once when none is now.
    package func ring(whenIdle job: String, _ body: @escaping @Sendable () -> Void) {
        bells.withLock { $0[job] = body }
        if !isBusy(job) { bells.withLock { $0.removeValue(forKey: job) }?() }
    }

    /// How many runs have not ended.
    package var count: Int {
        state.withLock { state in state.active.values.reduce(0) { $0 + $1.count } }
    }

    /// Whether a run of the job is under way or waits.
    package func isBusy(_ job: String) -> Bool {
        state.withLock { $0.active[job] != nil }
    }

    /// The ids of the job's runs that have not ended.
    package func runs(of job: String) -> Set<String> {
        state.withLock { $0.active[job]?.ids ?? [] }
    }
}
