import Ledger
import Timeline
import Tracking

extension SlotKeeper {
    /// Decides every slot up to `now` and commits the decisions, `extra` with the last of them.
    func settle(until now: Moment, with extra: [Change] = []) async throws(LedgerError) {
        if let cut { try await decide(until: cut.until, at: now) }
        if holds(at: now) {
            if !extra.isEmpty { try await ledger.commit(extra) }
            return
        }
        if watermark.decidedUntil - now > Self.eraStep { try await beginEra(at: now) }
        if watermark.decidedUntil < ClockDoubt.floor, now >= ClockDoubt.floor {
            try await returnToTrustedTime(at: now)
        }
        try await decide(until: now, at: now, with: extra)
    }

    /// Decides what has come up to `until`, in the order of names, in as many transactions as it needs.
    private func decide(
        until: Moment, at now: Moment, with extra: [Change] = []
    ) async throws(LedgerError) {
        var due = book.takeDue(at: until)[...]
        guard !due.isEmpty || !extra.isEmpty || cut != nil else { return }
        var caughtUp = 0
        repeat {
            var batch = SlotBatch(
                watermark: watermark, until: until, now: now, caughtUp: caughtUp, jobs: due.count)
            fill(&batch, from: &due)
            do throws(LedgerError) {
                try await commit(batch, isLast: due.isEmpty, joining: due.isEmpty ? extra : [])
            } catch {
                book.restore(batch.decided.map(\.job))
                book.restore(due)
                throw error
            }
            caughtUp = batch.caughtUp
        } while !due.isEmpty
    }

    /// Decides jobs in their order until the batch is full.
    private func fill(_ batch: inout SlotBatch, from due: inout ArraySlice<String>) {
        var late: [String] = []
        var count = 0
        // Nothing changes it meanwhile; a look at it is not one at the actor each time.
        let book = book
        for name in due {
            if let entry = book[name] {
                if entry.chain != nil, census.isBusy(name) {
                    // Somebody ran it by hand: the next run comes after the end of that one.
                    late.append(name)
                } else if !add(entry, to: &batch) {
                    break
                }
            }
            count += 1
        }
        due.removeFirst(count)
        for name in late {
            self.book.unchain(name)
            unchained.insert(name)
        }
    }

    private func add(_ entry: JobBook.Entry, to batch: inout SlotBatch) -> Bool {
        batch.add(
            entry, census: census, waiting: waiting, isOutdated: outdated.contains(entry.name),
            makeID: makeID)
    }

    /// Commits a batch; the watermark follows with the last one of a decision.
    func commit(
        _ batch: SlotBatch, isLast: Bool, joining extra: [Change]
    ) async throws(LedgerError) {
        var reached = watermark
        if isLast { reached.decidedUntil = max(batch.until, watermark.decidedUntil) }
        let next = isLast ? nil : batch.decided.last.map { SlotCut(until: batch.until, job: $0.job) }
        // Counted before they can be seen: a run may end before this task goes on.
        census.began(batch.runs)
        do throws(LedgerError) {
            let commit = try await ledger.commit(
                batch.changes(reached: reached, cut: next, clears: cut != nil, joining: extra))
            // All of them, unless a daemon before this one came so far and no farther.
            let made = commit.inserted.count < batch.runs.count ? Set(commit.inserted.map(\.run)) : nil
            for run in batch.runs {
                if let made, !made.contains(run.id) {
                    census.ended(run: run.id, of: run.job)
                } else if run.state == .scheduled {
                    wait(for: run, at: batch.now)
                }
            }
            leaveNotes(of: commit, made: batch.runs, touched: batch.touched)
        } catch {
            for run in batch.runs { census.ended(run: run.id, of: run.job) }
            throw error
        }
        for (name, open) in batch.decided {
            if book[name]?.chain != nil { unchained.insert(name) }
            book.advance(name, after: batch.until, joining: open)
        }
        watermark = reached
        cut = next
    }

    /// Above so many runs their rows are read when their turn comes, in the place of keeping all in memory.
    private static let rowsKept = 256

    /// Leaves notes of what a commit made and touched for the keeper of runs.
    func leaveNotes(of commit: Commit, made: [RunRecord], touched: [(run: String, job: String)]) {
        var due: Set<String> = []
        for (run, job) in touched where commit.passedOver.contains(run) {
            // It had its moment and waited for its turn alone: so does the one in its place.
            if waiting[run] == nil { due.insert(job) }
            waiting.remove(run)
            census.ended(run: run, of: job)
        }
        for run in made where due.contains(run.job) { waiting.hasten(run.id, to: clock.now) }
        if !touched.isEmpty { notes.add(changed: touched.map(\.run)) }
        guard !commit.inserted.isEmpty else { return }
        let ordinals = commit.ordinals
        let queued = made.filter { $0.state == .queued && ordinals[$0.id] != nil }
        if queued.count > Self.rowsKept { return notes.add(changed: queued.map(\.id)) }
        let rows = queued.map { run in
            var run = run
            run.ordinal = ordinals[run.id] ?? 0
            return run
        }
        if !rows.isEmpty { notes.add(made: rows) }
    }
}
