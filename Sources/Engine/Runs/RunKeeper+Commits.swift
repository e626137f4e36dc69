import Ledger
import Logging
import Performing
import Timeline
import Tracking

// Steps are committed together; what follows from each is done after that.

extension RunKeeper {
    /// Commits the steps together; when a guard refuses, each alone.
    func commit(_ steps: [RunStep]) async {
        // Steps of one run follow each other: none may pass one that is unrecorded.
        guard unrecorded.steps.isEmpty else { return unrecorded.add(steps) }
        var shared = SharedCommit(steps)
        while let batch = shared.next {
            do throws(LedgerError) {
                if try await ledger.commitUnlessFenced(batch.flatMap(\.changes)) {
                    await finish(batch)
                    shared.committed()
                } else {
                    if shared.isSingle { try await giveUp(batch[0]) }
                    shared.refused()
                }
            } catch {
                unrecorded.add(shared.rest)
                return unrecorded.note(error)
            }
        }
    }

    /// The steps are committed: what they show is shown, and what follows from them is done.
    func finish(_ steps: [RunStep]) async {
        let ended = steps.filter(\.leavesHands).map(\.run.id)
        if !ended.isEmpty { await board.end(ended) }
        for step in steps where !step.effects.isEmpty {
            let run = step.after
            let link = link(of: run.id)
            for effect in step.effects { await apply(effect, to: run, link) }
        }
    }

    /// Who performs the run; the warden where it is not in hand.
    private func link(of run: String) -> PerformerLink {
        performers[runs.active[run]?.performer ?? .warden]
    }

    private func apply(_ effect: RunStep.Effect, to run: RunRecord, _ link: PerformerLink) async {
        switch effect {
        case .acknowledge(let key): link.send(.acknowledge(key))
        case .ask(let key):
            runs.active[run.id]?.isAsked = true
            link.send(.ask(key))
        case .start: await start(run, link)
        case .wait:
            forget(run.id, keepsTurn: run.attempt > 1)
            rows.addFirst(run)
        case .end(let outcome):
            forget(run.id)
            orders.ended(run)
            census.ended(run: run.id, of: run.job)
            logger.info("run ended", metadata: ["run.id": "\(run.name)", "state": "\(outcome.state)"])
        }
    }

    private func start(_ run: RunRecord, _ link: PerformerLink) async {
        guard let entry = runs.active[run.id], let spec = entry.spec else { return }
        let (secrets, now) = (entry.secrets, clock.now)
        await board.enter(task(of: run), attempt: run.attempt, state: .starting, saved: run.live, at: now)
        await board.hide(secrets?.hidden, of: run.id)
        runs.active[run.id]?.isOrdered = true
        link.send(.start(orders.order(run, spec, secrets: secrets?.values ?? [:])))
        cancelAttempt(of: run.id)
    }

    /// Cancels the attempt if its end is asked for; its performer knows of a run that is just being claimed only after
    /// its start.
    func cancelAttempt(of id: String) {
        guard let entry = runs.active[id], entry.isOrdered, let why = entry.record.endAsked else { return }
        performers[entry.performer].send(
            .cancel(RunKey(run: id, attempt: entry.record.attempt), reason: why.rawValue))
    }

    /// A guard refused the step, because somebody else has moved the run: it is theirs, or has ended.
    ///
    /// What is true now is read.
    private func giveUp(_ step: RunStep) async throws(LedgerError) {
        let id = step.run.id
        logger.debug("a step came too late", metadata: ["run.id": "\(step.run.name)"])
        let row = try await ledger.run(id: id)
        let link = link(of: id)
        forget(id)
        await board.end(id, row?.state ?? .lost, reason: row?.reason, at: clock.now)
        for case .acknowledge(let key) in step.effects { link.strays.note(key, .acknowledge(key)) }
        release(id, row)
        guard row?.state.isEnded ?? true else { return rows.add([.changed(id)]) }
        census.ended(run: id, of: step.run.job)
    }

    // MARK: Hands

    /// The run is in nobody's hand any more.
    private func forget(_ id: String, keepsTurn: Bool = false) {
        guard runs.release(id, keepsTurn: keepsTurn) else { return }
        // Others may start, and a drain may be complete.
        phase.noteUnderWay(runs.active.count)
        loop.bell.ring()
    }

    /// The attempt has ended; it takes up no room any more.
    ///
    /// Returns the step with how the run got on and its last live state, which the board shows once the step is committed: with the
    /// sentence that explains why it could not be started, and as long after its start as it took, where that is known.
    func closing(
        _ step: RunStep, after elapsed: Duration? = nil, saying text: String? = nil
    ) async -> RunStep {
        guard step.leavesHands else { return step }
        var step = step
        let after = step.after
        let last = await board.conclude(
            after.id, after.state, reason: after.reason, after: elapsed, saying: text, at: clock.now)
        step.live = last?.live
        step.move.profile = last?.profile
        runs.noteEnd(after)
        return step
    }
}
