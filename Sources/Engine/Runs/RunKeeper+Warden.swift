import Cron
import Ledger
import Logging
import Timeline
import Tracking
import WardenProtocol

// What the warden says, and what jobs say of themselves.

extension RunKeeper {
    func take(_ event: WardenEvent, into steps: inout [RunStep]) async {
        let now = clock.now
        switch event {
        case .started(let key, let pid, let startTime, let moment):
            guard !isLeaving(key) else { return }
            guard let run = active.known(key) else {
                return look(after: key, .cancel(key, reason: "unknown run"))
            }
            // Its words, or its end, may come in this very turn, and must find it started.
            if run.state == .starting || run.state == .running {
                await board.become(.running, reason: nil, of: key.run, at: now)
            }
            guard run.state == .starting else { return }
            let clocks = clockChange(since: key.run)
            add(
                decider.started(run, pid: pid, startTime: startTime, at: moment, clockChange: clocks),
                to: &steps)
        case .refused(let key, let refusal, let text):
            guard !isLeaving(key), let run = active.known(key) else { return }
            logger.warning(
                "a run could not be started", metadata: ["run.id": "\(run.name)", "reason": "\(text)"])
            let chance = await chance(of: run)
            steps.append(
                await closing(
                    decider.refused(run, refusal, text: text, chance: chance, at: now), saying: text))
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
            guard let run = active.known(key) else { return look(after: key, .acknowledge(key)) }
            strays.forget(key)
            let isDone = record.cause == .exited && record.exitCode == 0
            let chance = isDone ? nil : await chance(of: run)
            let step = await closing(
                decider.ended(run, record, chance: chance, clockChange: clockChange(since: key.run)),
                after: record.elapsed)
            if let place = steps.lastIndex(where: { $0.run.id == run.id }),
                let both = steps[place].followed(by: step)
            {
                steps[place] = both
            } else {
                steps.append(step)
            }
        case .unknown(let key):
            // An answer to an earlier question says nothing of an attempt that was ordered since.
            guard !isLeaving(key), active[key.run]?.isAsked == true, let run = active.known(key) else {
                return
            }
            let chance = await chance(of: run)
            steps.append(await closing(decider.vanished(run, chance: chance, at: now)))
        case .inputTaken: break
        case .caughtUp:
            for question in active.ask() { warden.send(question) }
        case .disconnected:
            disconnected()
        }
    }

    /// The attempt is in nobody's hand: its row tells whether it is over.
    private func look(after key: RunKey, _ answer: WardenCommand) {
        strays.note(key, answer)
        unread.append(key.run)
    }

    /// Lets go of the run's attempts that are over.
    func letGo(_ run: String, _ row: RunRecord?) {
        for answer in strays.letGo(run, row) { warden.send(answer) }
    }

    /// Notes who has been silent for too long, or speaks again.
    func look(into steps: inout [RunStep]) async {
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
    private func chance(of run: RunRecord) async -> RetryChance? {
        do throws(LedgerError) {
            guard let spec = try await spec(of: run), spec.attempts > 1,
                let job = try await ledger.job(named: run.job)?.spec
            else { return nil }
            let schedule = try? job.schedule.read(seed: job.name, zones: zones)
            let next = schedule.flatMap { $0.0.nextSlot(after: clock.now, in: $0.1) }
            return RetryChance(spec: spec, nextSlot: next)
        } catch {
            trouble(error)
            return nil
        }
    }
}
