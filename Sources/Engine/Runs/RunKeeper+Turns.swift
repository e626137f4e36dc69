import Ledger
import Performing
import Timeline
import Tracking

// What waits, and whose turn it is.

extension RunKeeper {
    /// How many rows are looked at in one turn: the first of many may start before the last is read.
    private static let rowsAtATime = 256

    /// Reads the rows that were made or changed by somebody else, or wait again.
    func readNoted(into steps: inout [RunStep]) async {
        unread.append(contentsOf: census.takeNotes())
        var ids: [String] = []
        while ids.count < Self.rowsAtATime, let id = unread.popFirst() { ids.append(id) }
        guard !ids.isEmpty else { return }
        do throws(LedgerError) {
            var gone = Set(ids)
            for run in try await ledger.runs(ids: gone) {
                gone.remove(run.id)
                try await apply(run, into: &steps)
            }
            for id in gone { release(id, nil) }
        } catch {
            for id in ids.reversed() { unread.prepend(id) }
            trouble(error)
        }
    }

    private func apply(_ run: RunRecord, into steps: inout [RunStep]) async throws(LedgerError) {
        release(run.id, run)
        switch run.state {
        case .scheduled: return
        case .queued:
            guard active[run.id] == nil else { return }
            guard run.endAsked == nil else {
                drop(run)
                return steps.append(decider.withdrawn(run, at: clock.now))
            }
            guard lineup[run.id] == nil, delays[run.id] == nil else { return }
            try await queue(run)
        case .starting, .running, .blocked, .paused, .stalled:
            guard active[run.id] != nil else { return try await adopt(run, into: &steps) }
            guard let why = run.endAsked else { return }
            active[run.id]?.record.endAsked = why
            cancelAttempt(of: run.id)
        case .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed: drop(run)
        }
    }

    /// Takes up since when an attempt waits for what those before it left running: since its own first moment, which
    /// follows from the end of the one before.
    ///
    /// By the clock on the wall: no other one is known of the time before this daemon.
    func recallLeftovers(of run: RunRecord) async throws(LedgerError) {
        guard run.attempt > 1, [.queued, .starting].contains(run.state), let spec = try await spec(of: run),
            let ended = try await ledger.attempts(of: run.id).last(where: { $0.n < run.attempt })?.endedAt
        else { return }
        let begin = ended + RetryChance.wait(after: run.attempt - 1, of: run.id, spec)
        // One that only waits for that moment has not met any yet.
        guard run.state == .starting || run.notBefore.map({ $0 > begin }) ?? false else { return }
        leftoversSeen[run.id] = clock.sinceBoot - max(.zero, clock.now - begin)
    }

    /// The run is under way and in nobody's hand.
    func adopt(_ run: RunRecord, into steps: inout [RunStep]) async throws(LedgerError) {
        let step = decider.adopt(run)
        let spec = try await spec(of: run)
        let (performer, places) = (performers.kind(of: spec), Waiting(run, spec).places)
        active[run.id] = ActiveRun(adopting: step.after, by: performer, places: places)
        enter(run.id, places)
        steps.append(step)
        await board.enter(
            task(of: run), attempt: run.attempt, state: run.state, saved: run.live, at: clock.now)
    }

    /// The run waits, for its turn or for its moment; one that had its turn before goes first.
    private func queue(_ run: RunRecord) async throws(LedgerError) {
        let spec = try await spec(of: run)
        let waiting = Waiting(
            run, spec, performer: performers.kind(of: spec), since: ClockReading(of: clock))
        // It has been at work: the others of its job go on waiting for its end.
        if run.attempt > 1 { gates.enter(.job(run.job), run.id) }
        let now = clock.now
        // The first attempt's moment is its spread's, which has come when it is queued, whatever the clock says since.
        if let moment = run.notBefore, moment > now, run.attempt > 1 {
            let longest = RetryChance.longestWait(after: run.attempt - 1, of: spec)
            delays.add(waiting, until: clock.sinceBoot + min(moment - now, longest))
        } else {
            lineup.join(waiting, first: run.token > 0)
            fresh[run.id] = run
        }
    }

    /// Claims the runs whose turn it is, as many as may be started now.
    func admit(into steps: inout [RunStep]) async {
        for run in delays.takeDue(at: clock.sinceBoot) { lineup.join(run, first: true) }
        for link in performers.all where gates.set(.performer(link.kind), isOpen: link.isReady) {
            lineup.opened(.performer(link.kind))
        }
        var turn: [Waiting] = []
        var room = active.room(within: limits)
        while room > 0, let next = lineup.next(through: gates) {
            enter(next.id, next.places)
            turn.append(next)
            room -= 1
        }
        defer { fresh = [:] }
        guard !turn.isEmpty else { return }
        do throws(LedgerError) {
            let unknown = turn.map(\.id).filter { fresh[$0] == nil }
            for run in unknown.isEmpty ? [] : try await ledger.runs(ids: unknown) { fresh[run.id] = run }
            var plans: [(run: RunRecord, spec: JobSpec?, waiting: Waiting)] = []
            for waiting in turn {
                guard let run = fresh[waiting.id] else {
                    // Its row no longer exists: nobody else will let go of what it holds.
                    leave(waiting.id, waiting.places)
                    continue
                }
                plans.append((run, try await spec(of: run), waiting))
            }
            for plan in plans { await claim(plan.run, plan.spec, plan.waiting, into: &steps) }
        } catch {
            for run in turn.reversed() {
                leave(run.id, run.places)
                lineup.join(run, first: true)
            }
            trouble(error)
        }
    }

    private func claim(
        _ run: RunRecord, _ spec: JobSpec?, _ waiting: Waiting, into steps: inout [RunStep]
    ) async {
        let places = waiting.places
        guard run.state == .queued, run.endAsked == nil else {
            // It was changed since it began to wait.
            leave(run.id, places)
            return unread.append(run.id)
        }
        let fault: String
        if run.kind == .exec, lent[run.cause] == nil {
            fault = "the daemon ended before it began; run the command again"
        } else if let spec {
            let step = decider.claim(run)
            active[run.id] = ActiveRun(
                claiming: step.after, spec, by: waiting.performer, places: places, since: waiting.since)
            return steps.append(step)
        } else {
            fault = "revision \(run.revision) of its job is not in the ledger"
        }
        leave(run.id, places)
        let now = clock.now
        // Who follows the run, or asks later, reads why.
        await board.enter(task(of: run), attempt: run.attempt, state: .starting, saved: run.live, at: now)
        steps.append(await closing(decider.unstartable(run, text: fault, at: now), saying: fault))
    }

    /// What the run executes; nil when no such revision was ever stored.
    func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        if let spec = active[run.id]?.spec ?? specs.spec(of: run) { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if let spec { specs.keep(spec, of: run) }
        return spec
    }

    func order(_ run: RunRecord, _ spec: JobSpec) -> AttemptOrder {
        .process(processOrder(run, spec))
    }

    private func processOrder(_ run: RunRecord, _ spec: JobSpec) -> ProcessOrder {
        guard let loan = lent[run.cause] else {
            var order = ProcessOrder(run, spec, places)
            let waited = leftoversSeen[run.id].map { clock.sinceBoot - $0 } ?? .zero
            if run.attempt > 1, spec.endsLeftovers(afterWaiting: waited) { order.leftoverGrace = spec.grace }
            return order
        }
        var spec = spec
        spec.environment = loan.environment
        return loan.applied(to: ProcessOrder(run, spec, places))
    }
}
