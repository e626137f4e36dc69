import Ledger
import Performing
import Timeline
package import Tracking

// What people ask.

extension RunKeeper {
    /// Keeps what the run that `cause` is about to make brings along, until that run has ended.
    ///
    /// It holds somebody's whole environment, secrets and all: it stays in memory and never meets the ledger.
    package func lend(_ loan: ExecLoan, to cause: String) {
        lent[cause] = loan
    }

    /// Forgets what a run that was never made brought along.
    package func takeBack(from cause: String) {
        lent[cause] = nil
    }

    /// Why a queued run has not been started yet; nil when nothing is known to be in its way.
    package func obstacle(of run: String) -> RunReason? {
        if delays[run] != nil { return .retryWait }
        guard let waiting = lineup[run] else { return nil }
        switch waiting.gates.first(where: { !gates.isOpen($0, for: run) })?.name {
        case .job: return .overlap
        case .key: return .concurrency
        case .performer: return .wardenAway
        case nil: break
        }
        return performers[waiting.performer].isReady ? active.obstacle(within: limits) : .wardenAway
    }

    /// Ends a run.
    ///
    /// Returns when the word is in the ledger: it holds although the daemon ends now.
    package func cancel(_ id: String) async throws(EngineError) {
        // A second look, when it was started or has ended between the first one and the commit.
        for isLast in [false, true] {
            do throws(LedgerError) {
                if let run = try await ledger.run(id: id) {
                    if run.state.isEnded { return }
                    let waits = run.state == .scheduled || run.state == .queued
                    return try await waits && active[id] == nil ? withdraw(run) : askEnd(of: run)
                }
            } catch {
                if case .fenced = error, !isLast { continue }
                throw .ledger(error)
            }
            throw .noSuchRun(id)
        }
    }

    /// A run that waits ends at once.
    private func withdraw(_ run: RunRecord) async throws(LedgerError) {
        let step = decider.withdrawn(run, at: clock.now)
        do throws(LedgerError) {
            try await ledger.commit(step.changes)
        } catch {
            census.note([run.id])
            throw error
        }
        drop(run)
        await finish(step)
        ring()
    }

    /// A run that is under way is told to end, now and after each new connection.
    private func askEnd(of run: RunRecord) async throws(LedgerError) {
        try await ledger.commit([.askEnd(run: run.id, .canceled)])
        if active[run.id]?.record.endAsked == nil { active[run.id]?.record.endAsked = .canceled }
        // It may be in nobody's hand yet, or no more.
        census.note([run.id])
        cancelAttempt(of: run.id)
    }

    /// Cancels the attempt at its performer, which knows of a run that is just being claimed only after its start.
    func cancelAttempt(of id: String) {
        guard let entry = active[id], entry.isOrdered, let why = entry.record.endAsked else { return }
        performers[entry.performer].send(
            .cancel(RunKey(run: id, attempt: entry.record.attempt), reason: why.rawValue))
    }
}
