import Delivery
package import Ledger
import Timeline
import Tracking

extension Control {
    /// The run under a name that is no job's: nobody can be asked for another one any more.
    package func filed(_ run: RunRecord) async -> RunRecord {
        var run = run
        if await slots.isJob(run.job) { run.job = Self.execName(beside: run.job) }
        return run
    }

    /// Takes in a run that was done without a daemon: its row and the event of its end, in one transaction.
    ///
    /// Its id, its cause and its end are set; the ledger gives the ordinal.
    /// - Returns: false when its cause made a run before.
    package func takeIn(_ run: RunRecord) async throws(EngineError) -> Bool {
        precondition(run.state.isEnded, "only what has ended can be taken in")
        do throws(LedgerError) {
            if try await ledger.run(id: run.id) != nil { return false }
            var attempt = AttemptRecord(run: run.id, n: run.attempt, state: run.state)
            attempt.reason = run.reason
            attempt.startedAt = run.startedAt
            attempt.endedAt = run.endedAt
            attempt.exitCode = run.exitCode
            attempt.signal = run.signal
            let outcome = RunOutcome(run.state, run.reason)
            try await ledger.commit([
                .insertRun(run, orIgnore: false), .putAttempt(attempt),
                .append(
                    NewEvent(outcome.fact(of: Fact.Run(run)), at: run.endedAt ?? clock.now)),
            ])
            return true
        } catch {
            if case .fenced = error { return false }
            throw .ledger(error)
        }
    }
}
