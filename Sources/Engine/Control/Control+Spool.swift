package import Ledger
import Timeline
import Tracking

extension Control {
    /// Takes in a run that was done without a daemon: its row and the event of its end, in one transaction.
    ///
    /// Its id, its cause and its end are set; the ledger gives the ordinal.
    /// - Returns: false when its cause made a run before.
    package func takeIn(_ run: RunRecord) async throws(EngineError) -> Bool {
        precondition(run.state.isEnded, "only what has ended can be taken in")
        do throws(LedgerError) {
            if try await ledger.run(id: run.id) != nil { return false }
            // Nobody can be asked for another name any more, and the run is none of the job's.
            var run = run
            if await slots.entry(run.job) != nil { run.job = Self.execName(beside: run.job) }
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
                    NewEvent(
                        outcome.eventType, at: run.endedAt ?? clock.now, reason: run.reason?.rawValue,
                        job: run.job, run: run.id, bot: run.bot)),
            ])
            return true
        } catch {
            if case .fenced = error { return false }
            throw .ledger(error)
        }
    }
}
