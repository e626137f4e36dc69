import Ledger
import Logging
import Timeline
import Tracking

// Steps are committed together; what follows from each is done after that.

extension RunKeeper {
    /// Commits the steps together; when a guard refuses, each alone.
    func commit(_ steps: [RunStep]) async {
        guard !steps.isEmpty else { return }
        // Steps of one run follow each other: none may pass one that is owed.
        guard owed.isEmpty else { return owed += steps }
        let changes = steps.flatMap(\.changes)
        do throws(LedgerError) {
            try await ledger.commit(changes)
            for step in steps { await finish(step) }
        } catch {
            if case .fenced = error, steps.count > 1 {
                for step in steps { await commit([step]) }
            } else if case .fenced = error {
                for step in steps { await fence(step) }
            } else {
                owed += steps
                trouble(error)
            }
        }
    }

    func finish(_ step: RunStep) async {
        guard !step.effects.isEmpty else { return }
        let run = step.after
        let link = link(of: run.id)
        for effect in step.effects { await apply(effect, to: run, link) }
    }

    /// Who performs the run; the warden where it is not in hand.
    private func link(of run: String) -> PerformerLink { performers[active[run]?.performer ?? .warden] }

    private func apply(_ effect: RunStep.Effect, to run: RunRecord, _ link: PerformerLink) async {
        switch effect {
        case .acknowledge(let key): link.send(.acknowledge(key))
        case .ask(let key):
            active[run.id]?.isAsked = true
            link.send(.ask(key))
        case .start: await start(run, link)
        case .wait:
            forget(run.id, keepsTurn: run.attempt > 1)
            unread.prepend(run.id)
        case .end(let outcome):
            forget(run.id)
            lent[run.cause] = nil
            leftoversSeen[run.id] = nil
            census.ended(run: run.id, of: run.job)
            logger.info("run ended", metadata: ["run.id": "\(run.name)", "state": "\(outcome.state)"])
        }
    }

    private func start(_ run: RunRecord, _ link: PerformerLink) async {
        guard let spec = active[run.id]?.spec else { return }
        let now = clock.now
        await board.enter(task(of: run), attempt: run.attempt, state: .starting, saved: run.live, at: now)
        active[run.id]?.isOrdered = true
        link.send(.start(order(run, spec)))
        if active[run.id]?.record.endAsked != nil { cancelAttempt(of: run.id) }
    }

    /// Somebody else has moved the run: it is theirs, or has ended.
    ///
    /// What is true now is read.
    private func fence(_ step: RunStep) async {
        let id = step.run.id
        logger.debug("a step came too late", metadata: ["run.id": "\(step.run.name)"])
        do throws(LedgerError) {
            let row = try await ledger.run(id: id)
            let link = link(of: id)
            forget(id)
            await board.end(id, row?.state ?? .lost, reason: row?.reason, at: clock.now)
            for case .acknowledge(let key) in step.effects { link.strays.note(key, .acknowledge(key)) }
            release(id, row)
            guard row?.state.isEnded ?? true else { return unread.append(id) }
            census.ended(run: id, of: step.run.job)
        } catch {
            owed.append(step)
            trouble(error)
        }
    }

    // MARK: Hands

    /// The run is in nobody's hand any more.
    ///
    /// One that waits for another attempt still counts as one of its job.
    private func forget(_ id: String, keepsTurn: Bool = false) {
        guard let entry = active[id] else { return }
        active[id] = nil
        leave(id, keepsTurn ? entry.places.filter { $0 != .job(entry.record.job) } : entry.places)
        noteDrained()
        ring()
    }

    /// A run that waited does so no longer.
    func drop(_ run: RunRecord) {
        lineup.leave(run.id)
        delays.remove(run.id)
        leave(run.id, [.job(run.job)])
    }

    func enter(_ id: String, _ places: [Gate.Name]) {
        for place in places { gates.enter(place, id) }
    }

    func leave(_ id: String, _ places: [Gate.Name]) {
        for place in places {
            gates.leave(place, id)
            lineup.opened(place)
        }
    }

    /// The attempt is over: what only waits for the commit takes up no room, so that the next one shares it.
    ///
    /// Returns the step with the run's last live state, which leaves the board now: with the sentence that tells why
    /// it could not be started, and as long after its start as it took, where that is known.
    func closing(
        _ step: RunStep, after elapsed: Duration? = nil, saying text: String? = nil
    ) async -> RunStep {
        var step = step
        let after = step.after
        guard after.state.isEnded || after.state == .queued else { return step }
        let live = await board.end(
            after.id, after.state, reason: after.reason, after: elapsed, saying: text, at: clock.now)
        if let live { step.changes.append(.saveLive(run: after.id, live)) }
        active[after.id]?.record = after
        active[after.id]?.isLeaving = true
        if let entry = active[after.id] {
            let keepsTurn = !after.state.isEnded && after.attempt > 1
            leave(after.id, keepsTurn ? entry.places.filter { $0 != .job(after.job) } : entry.places)
        }
        return step
    }

    func task(of run: RunRecord) -> LiveTask {
        LiveTask(id: run.id, botID: run.bot, run: run.name, name: run.job, botName: run.bot)
    }
}
