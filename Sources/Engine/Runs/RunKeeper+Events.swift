import Cron
import Ledger
import Logging
import Performing
import Timeline
import Tracking

// What performers report, and what jobs report of themselves.

extension RunKeeper {
    func apply(
        _ event: PerformerEvent, from link: PerformerLink, into steps: inout [RunStep]
    ) async {
        let now = clock.now
        switch event {
        case .started(let key, let process, let moment):
            guard !isLeaving(key) else { return }
            guard let run = active.known(key) else {
                return readRow(of: key, from: link, then: .cancel(key, reason: "unknown run"))
            }
            // Its reports, or its end, may arrive in this very turn, and must find it started.
            if run.state == .starting || run.state == .running {
                await board.become(.running, reason: nil, of: key.run, at: now)
            }
            leftoversSeen[key.run] = nil
            guard run.state == .starting else { return }
            let clocks = clockChange(since: key.run)
            add(
                decider.started(run, process, at: moment, clockChange: clocks),
                to: &steps)
        case .refused(let key, let refusal, let text):
            guard !isLeaving(key), let run = active.known(key) else { return }
            logger.warning(
                "a run could not be started", metadata: ["run.id": "\(run.name)", "reason": "\(text)"])
            await end(run, .refused(refusal, text: text), into: &steps)
        case .output(let key, _, let bytes):
            guard !isLeaving(key), active.known(key) != nil else { return }
            note(await board.scan(bytes, of: key.run, at: now), at: now, into: &steps)
        case .report(let key, let line):
            guard !isLeaving(key), active.known(key) != nil else { return }
            note(await board.receive(line: line, of: key.run, at: now), at: now, into: &steps)
        case .notify(let key, let datagrams):
            guard !isLeaving(key), active.known(key) != nil else { return }
            for datagram in datagrams {
                guard let report = NotifyDatagram(datagram[...])?.report else { continue }
                note(await board.receive(report, of: key.run, at: now), at: now, into: &steps)
            }
        case .ended(let record):
            guard !isLeaving(record.key) else { return }
            let key = record.key
            guard let run = active.known(key) else {
                return readRow(of: key, from: link, then: .acknowledge(key))
            }
            link.strays.forget(key)
            await end(run, .ended(record), into: &steps)
        case .unknown(let key):
            // An answer to an earlier question says nothing of an attempt that was ordered since.
            guard !isLeaving(key), active[key.run]?.isAsked == true, let run = active.known(key) else {
                return
            }
            await end(run, .vanished, into: &steps)
        case .inputTaken: break
        case .caughtUp:
            for question in active.questions(for: link.kind) { link.send(question) }
        case .disconnected:
            link.disconnected()
        }
    }

    /// The attempt of a run is over; while the ledger can't be read, nobody knows whether another one follows, and it
    /// is decided later.
    private func end(_ run: RunRecord, _ end: AttemptEnd, into steps: inout [RunStep]) async {
        let chance: RetryChance?
        do throws(LedgerError) {
            chance = end.isSuccess ? nil : try await self.chance(of: run)
        } catch .damaged(_, let detail) {
            // To read it again would not help: without the job's rules there is no other attempt.
            logger.error(
                "the rules of a run can't be read",
                metadata: ["run.id": "\(run.name)", "reason": "\(detail)"])
            chance = nil
        } catch {
            undecided.append((RunKey(run: run.id, attempt: run.attempt), end))
            active[run.id]?.isUndecided = true
            return trouble(error)
        }
        let now = clock.now
        switch end {
        case .refused(let refusal, let text):
            let waited = refusal == .stillAlive ? waitedForLeftovers(of: run.id) : .zero
            let step = decider.refused(run, refusal, text: text, chance: chance, waited: waited, at: now)
            steps.append(await closing(step, saying: text))
        case .vanished:
            let survives = performers[active[run.id]?.performer ?? .warden].performer.survivesTheDaemon
            let step = decider.vanished(run, survivesTheDaemon: survives, chance: chance, at: now)
            steps.append(await closing(step))
        case .ended(let record):
            let step = await closing(
                decider.ended(run, record, chance: chance, clockChange: clockChange(since: run.id)),
                after: record.elapsed)
            if let place = steps.lastIndex(where: { $0.run.id == run.id }),
                let both = steps[place].followed(by: step)
            {
                steps[place] = both
            } else {
                steps.append(step)
            }
        }
    }

    /// Decides the ends of attempts that could not be decided when they were reported.
    func decideEnds(into steps: inout [RunStep]) async {
        let ends = undecided
        undecided = []
        for (key, end) in ends {
            guard let run = active[key.run]?.record, run.attempt == key.attempt, !isLeaving(key) else {
                continue
            }
            await self.end(run, end, into: &steps)
        }
    }

    /// How long the run has waited, since this daemon first saw that it must, for what an earlier attempt left
    /// running.
    private func waitedForLeftovers(of run: String) -> Duration {
        let since = leftoversSeen[run] ?? clock.sinceBoot
        leftoversSeen[run] = since
        return clock.sinceBoot - since
    }

    /// The attempt is in nobody's hand: its row shows whether it has ended, and whether the answer may be given.
    private func readRow(of key: RunKey, from link: PerformerLink, then answer: PerformerRequest) {
        link.strays.note(key, answer)
        unread.append(key.run)
    }

    /// Releases the run's attempts that have ended.
    func release(_ run: String, _ row: RunRecord?) {
        for link in performers.all { link.release(run, row) }
    }

    /// Notes which jobs have been silent for too long, or speak again.
    func noteSilences(into steps: inout [RunStep]) async {
        let now = clock.now
        for live in await board.look(at: now) { note(live, at: now, into: &steps) }
    }

    /// Records that a run's state changed by what its job said, or by its silence.
    private func note(_ live: LiveState?, at now: Moment, into steps: inout [RunStep]) {
        guard let live, let run = active[live.task.id]?.record,
            let step = decider.said(run, live, at: now)
        else { return }
        add(step, to: &steps)
    }

    private func add(_ step: RunStep, to steps: inout [RunStep]) {
        active[step.run.id]?.record = step.after
        steps.append(step)
    }

    /// How far the clock on the wall was set since the run began to wait, as far as this daemon saw.
    private func clockChange(since run: String) -> Duration {
        active[run]?.since?.change(until: ClockReading(of: clock)) ?? .zero
    }

    /// Whether the attempt's end is about to be committed, so that it is too late for all else.
    private func isLeaving(_ key: RunKey) -> Bool { active[key.run]?.isLeaving == true }

    /// Whether and until when the run may be tried again; nil: it is not.
    private func chance(of run: RunRecord) async throws(LedgerError) -> RetryChance? {
        guard let spec = try await spec(of: run), spec.attempts > 1,
            let job = try await ledger.job(named: run.job)
        else { return nil }
        // The slots of a paused job do not run: none of them is a reason to give up.
        if job.pause != nil { return RetryChance(spec: spec, nextSlot: nil) }
        let schedule = try? job.spec.schedule.read(seed: job.name, zones: zones)
        let next = schedule.flatMap { $0.0.nextSlot(after: clock.now, in: $0.1) }
        return RetryChance(spec: spec, nextSlot: next)
    }
}

/// How an attempt ended, as its performer reported it.
enum AttemptEnd {
    case refused(Refusal, text: String)
    case ended(ExitRecord)
    case vanished

    /// Whether it did what it should.
    var isSuccess: Bool {
        if case .ended(let record) = self { return record.cause == .exited && record.exitCode == 0 }
        return false
    }
}
