import Delivery
import Ledger
import Logging
import Timeline
import Tracking

extension SlotKeeper {
    /// Decides every slot up to `now` and commits the decisions, `extra` with the last of them.
    ///
    /// The `outdated` jobs were changed or removed while no daemon ran: none of their slots runs.
    func settle(
        until now: Moment, with extra: [Change] = [], outdated: Set<String> = []
    ) async throws(LedgerError) {
        if let cut = progress.cut { try await decide(until: cut.until, at: now, outdated: outdated) }
        if holds(at: now) {
            if !extra.isEmpty { try await ledger.commit(extra) }
            return
        }
        if progress.watermark.decidedUntil - now > Self.eraStep { try await beginEra(at: now) }
        if progress.watermark.decidedUntil < ClockDoubt.floor, now >= ClockDoubt.floor {
            try await returnToTrustedTime(at: now)
        }
        try await decide(until: now, at: now, with: extra, outdated: outdated)
    }

    /// Decides what has come up to `until`, in the order of names, in as many transactions as it needs.
    private func decide(
        until: Moment, at now: Moment, with extra: [Change] = [], outdated: Set<String>
    ) async throws(LedgerError) {
        var due = book.takeDue(at: until)[...]
        guard !due.isEmpty || !extra.isEmpty || progress.cut != nil else { return }
        var caughtUp = 0
        repeat {
            var batch = SlotBatch(
                watermark: progress.watermark, until: until, now: now, caughtUp: caughtUp, jobs: due.count)
            fill(&batch, from: &due, outdated: outdated)
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
    private func fill(
        _ batch: inout SlotBatch, from due: inout ArraySlice<String>, outdated: Set<String>
    ) {
        var late: [String] = []
        var count = 0
        // Nothing changes it meanwhile; a look at it is not one at the actor each time.
        let book = book
        for name in due {
            if let entry = book[name] {
                if entry.chain != nil, runs.census.isBusy(name) {
                    // Somebody ran it by hand: the next run comes after the end of that one.
                    late.append(name)
                } else if !add(entry, to: &batch, isOutdated: outdated.contains(name)) {
                    break
                }
            }
            count += 1
        }
        due.removeFirst(count)
        for name in late { self.book.unchain(name) }
    }

    private func add(_ entry: JobBook.Entry, to batch: inout SlotBatch, isOutdated: Bool) -> Bool {
        batch.add(
            entry, census: runs.census, waiting: waiting, isOutdated: isOutdated, makeID: runs.makeID)
    }

    /// Commits a batch; the watermark follows with the last one of a decision.
    func commit(
        _ batch: SlotBatch, isLast: Bool, joining extra: [Change]
    ) async throws(LedgerError) {
        let next = progress.advanced(by: batch, isLast: isLast)
        let changes = batch.changes(
            reached: next.watermark, cut: next.cut, clears: progress.cut != nil, joining: extra)
        let commit = try await runs.commit(changes, making: batch.runs, to: ledger)
        // All of them, unless a daemon before this one came so far and no farther.
        let made = commit.inserted.count < batch.runs.count ? Set(commit.inserted.map(\.run)) : nil
        for run in batch.runs {
            if let made, !made.contains(run.id) {
                runs.census.ended(run: run.id, of: run.job)
            } else if run.state == .scheduled {
                wait(for: run, at: batch.now)
            }
        }
        note(commit, made: batch.runs, touched: batch.touched)
        for (name, open) in batch.decided { book.advance(name, after: batch.until, joining: open) }
        progress = next
    }

    /// Notes what a commit made and changed, for whoever follows runs.
    func note(_ commit: Commit, made: [RunRecord], touched: [(run: String, job: String)]) {
        runs.note(commit, made: made, touched: touched, waiting: &waiting, at: clock.now)
    }

    // MARK: The clock

    /// Before a clock that nobody could believe: up to here all slots were decided.
    private static let trustedFact = "slots.trusted"

    /// Notes what happened to the clocks since the last look.
    func readClocks() {
        let change = watch.readClocks()
        if let slept = change.slept {
            logger.notice("the machine slept", metadata: ["duration.ms": "\(slept.milliseconds)"])
        }
        if let back = change.wentBack {
            waiting.clamp(at: clock.now)
            book.clampChains(at: clock.now)
            logger.notice(
                "the clock went back",
                metadata: [
                    "duration.ms": "\(back.milliseconds)",
                    "slot.at": "\(progress.watermark.decidedUntil.iso8601)",
                ])
        }
    }

    /// Whether to wait for the clock to be set.
    func holds(at now: Moment) -> Bool {
        if watch.hold(at: now, decidedUntil: progress.watermark.decidedUntil) {
            if watch.isHeld {
                logger.warning("the clock is not set yet; slots wait", metadata: ["now": "\(now.iso8601)"])
            } else {
                logger.notice("slots are decided again", metadata: ["now": "\(now.iso8601)"])
            }
        }
        return watch.isHeld
    }

    /// The clock went back so far that wall time may repeat: slots of the same moments are others from here on.
    func beginEra(at now: Moment) async throws(LedgerError) {
        let watermark = progress.watermark
        let next = progress.newEra(from: now)
        var changes = [Change.moveWatermark(from: watermark, to: next.watermark)]
        if now < ClockDoubt.floor, watermark.decidedUntil >= ClockDoubt.floor {
            let trusted = String(watermark.decidedUntil.microseconds)
            changes.append(.setFact(name: Self.trustedFact, value: trusted))
        }
        let back = Duration.seconds((watermark.decidedUntil - now).milliseconds / 1000)
        changes.append(.append(NewEvent(.clockBack(Fact.ClockBack(by: back)), at: now)))
        try await ledger.commit(changes)
        watch.noteEra(by: back)
        logger.warning("the clock went back; a new era begins", metadata: ["era": "\(next.watermark.era)"])
        progress = next
        book.restart(after: now)
    }

    /// A clock that showed a year before Belfry was set: what counts is what was decided before it.
    func returnToTrustedTime(at now: Moment) async throws(LedgerError) {
        let stored = try await ledger.fact(named: Self.trustedFact).flatMap { Int64($0) }
        let trusted = min(stored.map(Moment.init(microseconds:)) ?? now, now)
        let next = progress.newEra(from: trusted)
        try await ledger.commit([
            .moveWatermark(from: progress.watermark, to: next.watermark),
            .setFact(name: Self.trustedFact, value: nil),
        ])
        logger.notice(
            "clock corrected; slots resume from before the error",
            metadata: ["era": "\(next.watermark.era)", "slot.at": "\(trusted.iso8601)"])
        progress = next
        book.restart(after: trusted)
    }
}
