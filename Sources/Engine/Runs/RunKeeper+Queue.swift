import Grouping
package import Ledger
import Logging
import Performing
package import Timeline
package import Tracking

// What waits, and whose turn it is.

extension RunKeeper {
    /// How many rows are looked at in one turn: the first of many may start before the last is read.
    private static let rowsAtATime = 256

    /// Looks at the rows that were made or changed by somebody else, or wait again.
    func readNoted(into steps: inout [RunStep]) async {
        let noted = rows.removeFirst(Self.rowsAtATime)
        guard !noted.isEmpty else { return }
        do throws(LedgerError) {
            var changed: Set<String> = []
            for note in noted {
                switch note {
                case .made(let run): try await apply(run, into: &steps)
                case .changed(let id): changed.insert(id)
                }
            }
            guard !changed.isEmpty else { return }
            for run in try await ledger.runs(ids: changed) {
                changed.remove(run.id)
                try await apply(run, into: &steps)
            }
            for id in changed { release(id, nil) }
        } catch {
            rows.putBack(noted)
            unrecorded.note(error)
        }
    }

    private func apply(_ run: RunRecord, into steps: inout [RunStep]) async throws(LedgerError) {
        release(run.id, run)
        switch run.state {
        case .scheduled: return
        case .queued:
            guard runs.active[run.id] == nil else { return }
            guard run.endAsked == nil else {
                runs.drop(run)
                return steps.append(decider.withdrawn(run, at: clock.now))
            }
            guard !runs.queue.contains(run.id) else { return }
            try await enqueue(run)
        case .blocked where run.isParked && runs.active[run.id] == nil:
            await keepParked(run, into: &steps)
        case .starting, .running, .blocked, .paused, .stalled:
            guard runs.active[run.id] != nil else { return try await adopt(run, into: &steps) }
            guard let why = run.endAsked else { return }
            runs.active[run.id]?.record.endAsked = why
            cancelAttempt(of: run.id)
        case .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed:
            parked[run.id] = nil
            runs.drop(run)
        }
    }

    /// Takes up since when an attempt waits for what those before it left running: since its own first moment, which
    /// follows from the end of the one before.
    ///
    /// By the clock on the wall: no other one is known of the time before this daemon.
    func recallLeftovers(of run: RunRecord) async throws(LedgerError) {
        guard run.attempt > 1, [.queued, .starting].contains(run.state),
            let spec = try await specs.spec(of: run),
            let ended = try await ledger.attempts(of: run.id).last(where: { $0.n < run.attempt })?.endedAt
        else { return }
        let begin = ended + RetryChance.wait(after: run.tries - 1, of: run.id, spec)
        // One that only waits for that moment has not met any yet.
        guard run.state == .starting || run.notBefore.map({ $0 > begin }) ?? false else { return }
        orders.recallLeftovers(of: run.id, since: begin)
    }

    /// The run is under way and in nobody's hand.
    func adopt(_ run: RunRecord, into steps: inout [RunStep]) async throws(LedgerError) {
        if run.isParked { return await keepParked(run, into: &steps) }
        let spec = try await specs.spec(of: run)
        if run.state == .starting, spec?.wake != nil, run.live?.wake == nil {
            return steps.append(decider.waitsAgain(run))
        }
        let step = decider.adopt(run)
        let performer = performers.kind(adopting: RunKey(run: run.id, attempt: run.attempt), of: spec)
        runs.adopt(step.after, by: performer, places: Waiting(run, spec).places)
        steps.append(step)
        await board.enter(
            task(of: run), attempt: run.attempt, state: run.state, saved: run.live,
            startedAt: run.attempt == 1 ? run.startedAt : nil, at: clock.now)
        // Nobody else knows what they were.
        let secrets = specs.secrets(of: spec, givenAt: run.startedAt)
        if secrets == nil {
            logger.warning(
                "output of a run is hidden: its secrets may have changed since it started",
                metadata: ["run.id": "\(run.name)"])
        }
        runs.active[run.id]?.secrets = secrets
        await board.hide(secrets?.hidden, of: run.id)
        await board.read(spec?.progress, in: run.id)
    }

    /// The run waits, for its turn or for its moment; one that had its turn before goes first.
    private func enqueue(_ run: RunRecord) async throws(LedgerError) {
        let spec = try await specs.spec(of: run)
        let waiting = Waiting(
            run, spec, performer: performers.kind(of: spec),
            since: runs.beginWait(of: run.id, at: ClockReading(of: clock)))
        // It has been at work: the others of its job go on waiting for its end.
        if run.attempt > 1 { runs.queue.enter(run.id, [.job(run.job)]) }
        let reading = ClockReading(of: clock)
        // The first attempt's moment is its spread's, which has come when it is queued, whatever the clock says since.
        if let moment = run.notBefore, moment > reading.now, run.attempt > 1 {
            let longest = try await longestWait(of: run, spec, until: moment)
            runs.queue.delay(waiting, until: reading.sinceBoot + min(moment - reading.now, longest))
        } else {
            runs.queue.join(waiting, first: run.token > 0)
            rows.keep(run)
        }
    }

    /// The most that the run waits for the moment of its next attempt: its own wait, or as long as its provider asked
    /// for, which follows from the end of the attempt before.
    private func longestWait(
        of run: RunRecord, _ spec: JobSpec?, until moment: Moment
    ) async throws(LedgerError) -> Duration {
        let own = RetryChance.longestWait(after: run.tries - 1, of: spec)
        guard moment - clock.now > own,
            let ended = try await ledger.attempts(of: run.id).last(where: { $0.n < run.attempt })?.endedAt
        else { return own }
        // Both moments are of the clock of that time, however it was set since.
        return max(own, min(moment - ended, RetryChance.longestAsked))
    }

    /// Claims the runs whose turn it is, as many as there is room for.
    func admit(into steps: inout [RunStep]) async {
        let turns = runs.takeTurns(at: clock.sinceBoot)
        guard !turns.isEmpty else { return }
        do throws(LedgerError) {
            let unseen = turns.map(\.id).filter { rows[$0] == nil }
            for run in unseen.isEmpty ? [] : try await ledger.runs(ids: unseen) { rows.keep(run) }
            var plans: [Plan] = []
            for waiting in turns {
                guard let run = rows[waiting.id] else {
                    // Its row no longer exists: nobody else will release what it holds.
                    runs.queue.leave(waiting.id, waiting.places)
                    continue
                }
                var plan = Plan(run: run, spec: try await specs.spec(of: run), waiting: waiting)
                if let spec = plan.spec { plan.talk = try await talk(of: run, spec) }
                plans.append(plan)
            }
            for plan in plans { await claim(plan, into: &steps) }
        } catch {
            runs.queue.putBack(turns)
            unrecorded.note(error)
        }
    }

    /// What a run's bot is shown beside the prompt of its spec.
    private func talk(of run: RunRecord, _ spec: JobSpec) async throws(LedgerError) -> RunTalk {
        if let thread = spec.thread {
            return RunTalk(try await conversations.prompt(bot: run.bot, thread: thread, at: clock.now))
        }
        guard spec.prompt != nil, spec.session == .bot else { return RunTalk() }
        return try await conversations.earlier(bot: run.bot, thread: run.job)
    }

    /// A run whose turn it is, with all it takes to start it.
    private struct Plan {
        let run: RunRecord
        let spec: JobSpec?
        let waiting: Waiting
        var talk = RunTalk()
    }

    private func claim(_ plan: Plan, into steps: inout [RunStep]) async {
        let (run, spec, waiting) = (plan.run, plan.spec, plan.waiting)
        guard run.state == .queued, run.endAsked == nil else {
            // It was changed since it began to wait.
            runs.queue.leave(run.id, waiting.places)
            return rows.add([.changed(run.id)])
        }
        let fault: String
        if orders.lacksLoan(run) {
            fault = "the daemon ended before it began; run the command again"
        } else if spec?.thread != nil, plan.talk.reply == nil {
            fault = "there is nothing left to answer"
        } else if let spec {
            do throws(RunSecrets.Unreadable) {
                let secrets = try specs.secrets(of: spec)
                let step = decider.claim(run, plan.talk.reply)
                // Its bot may have been configured otherwise while it waited.
                let performer = performers.kind(of: spec)
                runs.active[run.id] = ActiveRun(claiming: step.after, spec, secrets, waiting, by: performer)
                runs.active[run.id]?.talk = plan.talk
                return steps.append(step)
            } catch {
                fault = error.description
            }
        } else {
            fault = "revision \(run.revision) of its job is not in the ledger"
        }
        runs.queue.leave(run.id, waiting.places)
        let now = clock.now
        // Who follows the run, or asks later, reads why.
        await board.enter(task(of: run), attempt: run.attempt, state: .starting, saved: run.live, at: now)
        steps.append(await closing(decider.unstartable(run, text: fault, at: now), saying: fault))
    }

    func task(of run: RunRecord) -> LiveTask {
        LiveTask(id: run.id, botID: run.bot, run: run.name, name: run.job, botName: run.bot)
    }
}

/// What a run waits for.
package struct RunWait: Hashable, Sendable {
    package var kind: WaitKind
    /// The bot, the job, the concurrency key or the question (its id) that it waits for; nil: it has no name.
    package var name: String?
    /// Until when, where that is known.
    package var until: Moment?
    /// How many runs are before it there, those at work included; nil: nobody counted them.
    package var before: Int?

    package init(_ kind: WaitKind, name: String? = nil, until: Moment? = nil) {
        (self.kind, self.name, self.until) = (kind, name, until)
    }

    /// It is blocked, by the question if there is one, which is named by its id.
    init(blockedBy kind: BlockedKind?, _ question: QuestionRecord?) {
        self.init(WaitKind(kind), name: question?.id, until: question?.question.deadline)
    }

    /// It waits for the moment of its next attempt; `last` is the one before.
    init(retryOf run: RunRecord, after last: AttemptRecord?) {
        let isOfNetwork = last?.reason?.isOfNetwork == true
        // Of a bot that could not be reached, its name says whom to look after.
        let name = isOfNetwork && last?.reason?.isOfBot == true ? run.bot : nil
        self.init(isOfNetwork ? .network : .retry, name: name, until: run.notBefore)
    }

    /// It waits at a gate that is closed.
    init(at gate: Gate.Name) {
        switch gate {
        case .job(let job): self.init(.overlap, name: job)
        case .key(let key): self.init(.concurrency, name: key)
        case .lane(let bot): self.init(.lane, name: bot)
        case .performer: self.init(.warden)
        }
    }
}

extension RunQueue {
    /// What keeps a waiting run from its turn; nil when no gate does.
    ///
    /// - Complexity: O(1), and with `counting` O(runs that wait).
    func wait(of id: String, counting: Bool = false) -> RunWait? {
        if isDelayed(id) { return RunWait(.retry) }
        guard let (run, gate) = obstacle(of: id) else { return nil }
        var wait = RunWait(at: gate)
        if counting, wait.name != nil { wait.before = count(before: run, at: gate) }
        return wait
    }
}

extension RunsInHand {
    /// What a waiting run has not been started for yet; nil when nothing is known to be in its way.
    func wait(of run: String, counting: Bool = false) -> RunWait? {
        guard queue.contains(run) else { return nil }
        return queue.wait(of: run, counting: counting)
            ?? (active.room(within: limits) <= 0 ? RunWait(.cap) : nil)
    }
}

extension RunKeeper {
    /// What a queued run has not been started for yet; nil when nothing is known to be in its way.
    ///
    /// With `counting` it is counted how many are before it.
    package func wait(of run: String, counting: Bool = false) -> RunWait? {
        runs.wait(of: run, counting: counting)
    }
}

extension Control {
    /// What a run waits for; nil: for nothing that is known.
    package func wait(of run: RunRecord, _ live: LiveState?, counting: Bool) async -> RunWait? {
        switch run.state {
        case .scheduled: return RunWait(.spread, until: run.notBefore)
        case .queued:
            guard let wait = await runs.wait(of: run.id, counting: counting) else { return nil }
            guard wait.kind == .retry else { return wait }
            return RunWait(retryOf: run, after: (try? await ledger.attempts(of: run.id))?.last)
        case .blocked:
            let open = try? await ledger.openQuestions()
            return RunWait(
                blockedBy: (live ?? run.live)?.blockedKind, open?.first { $0.run == run.id })
        default: return nil
        }
    }
}
