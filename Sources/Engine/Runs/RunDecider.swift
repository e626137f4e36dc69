import Ledger
import Timeline
import Tracking
import WardenProtocol

/// What becomes of a run by what happened to it.
///
/// Pure: a run and a fact in, one step out.
struct RunDecider {
    /// This boot of the machine.
    var boot: String

    static let alive: Set<RunState> = [.starting, .running, .blocked, .paused, .stalled]

    /// The run is about to be started.
    ///
    /// Written before the order is sent, so that a crash between the two shows.
    func claim(_ run: RunRecord) -> RunStep {
        var move = RunMove(run: run.id, from: [.queued], attempt: run.attempt, to: .starting)
        move.process = ProcessMark(pid: 0, startTime: 0, boot: boot)
        return RunStep(run: run, changes: [.moveRun(move)], effects: [.start])
    }

    /// Nobody knows any more what it should do, as `text` says: it can't be started, and must not wait for ever.
    func unstartable(_ run: RunRecord, text: String, at now: Moment) -> RunStep {
        let outcome = RunOutcome(.failed, .spawnFailed)
        var move = RunMove(
            run: run.id, from: [.queued], attempt: run.attempt, to: outcome.state, reason: outcome.reason)
        move.endedAt = now
        let told = event(
            outcome.eventType, run, at: now, reason: outcome.reason?.rawValue, detail: text)
        return RunStep(run: run, changes: [.moveRun(move), told], effects: [.end(outcome)])
    }

    /// The warden says that a `starting` run was started.
    func started(_ run: RunRecord, pid: Int32, startTime: UInt64, at moment: Moment) -> RunStep {
        var move = RunMove(run: run.id, from: [.starting], attempt: run.attempt, to: .running)
        move.startedAt = moment
        move.queueDelay = max(.zero, moment - run.queuedAt)
        move.process = ProcessMark(pid: pid, startTime: startTime, boot: boot)
        var attempt = AttemptRecord(run: run.id, n: run.attempt, state: .running)
        attempt.startedAt = moment
        return RunStep(
            run: run,
            changes: [.moveRun(move), .putAttempt(attempt), event(.runStarted, run, at: moment)],
            effects: [])
    }

    /// The warden could not start it.
    func refused(_ run: RunRecord, _ refusal: Refusal, text: String, at now: Moment) -> RunStep {
        let reason: RunReason =
            switch refusal {
            case .notFound: .notFound
            case .notExecutable: .notExecutable
            case .badFolder: .badDirectory
            case .badOutput, .badOrder, .tooLong, .exhausted, .badInput, .noSuchUser, .notPermitted, .other:
                .spawnFailed
            }
        return end(run, RunOutcome(.failed, reason), at: now, detail: text)
    }

    /// Its process has ended.
    func ended(_ run: RunRecord, _ record: ExitRecord) -> RunStep {
        var step = end(run, RunOutcome(record), at: record.endedAt, record: record)
        step.effects.append(.acknowledge(record.key))
        step.whenFenced.append(.acknowledge(record.key))
        return step
    }

    /// The warden knows nothing of it.
    ///
    /// In this boot a `starting` run was never started, and waits again. What ran, or was started in another
    /// boot, is lost: nobody can say how it ended. One that never was started and `isCanceled` is at its end.
    func vanished(_ run: RunRecord, isCanceled: Bool = false, at now: Moment) -> RunStep {
        let isThisBoot = run.process?.boot == boot
        guard run.state == .starting, isThisBoot else {
            return end(run, RunOutcome(.lost, isThisBoot ? .wardenLost : .hostRestarted), at: now)
        }
        if isCanceled { return end(run, RunOutcome(.canceled, .canceled), at: now) }
        let move = RunMove(run: run.id, from: [.starting], attempt: run.attempt, to: .queued)
        return RunStep(run: run, changes: [.moveRun(move)], effects: [.wait])
    }

    /// The job said that it waits for a person, or goes on; or it fell silent, or spoke again.
    func said(_ run: RunRecord, _ live: LiveState, at now: Moment) -> RunStep? {
        guard live.state != run.state, [.running, .blocked, .stalled].contains(live.state) else { return nil }
        let from = Self.alive.subtracting([.starting])
        let move = RunMove(run: run.id, from: from, attempt: run.attempt, to: live.state)
        var changes: [Change] = [.moveRun(move), .saveLive(run: run.id, live)]
        if live.state == .blocked {
            changes.append(event(.runBlocked, run, at: now, reason: live.blockedKind?.rawValue))
        }
        return RunStep(run: run, changes: changes, effects: [])
    }

    /// A person ends a run that has not been started.
    func withdrawn(_ run: RunRecord, at now: Moment) -> RunStep {
        let outcome = RunOutcome(.canceled, .canceled)
        var move = RunMove(
            run: run.id, from: [.scheduled, .queued], attempt: run.attempt, to: outcome.state,
            reason: outcome.reason)
        move.endedAt = now
        return RunStep(
            run: run,
            changes: [
                .moveRun(move), event(outcome.eventType, run, at: now, reason: outcome.reason?.rawValue),
            ],
            effects: [.end(outcome)])
    }

    private func end(
        _ run: RunRecord, _ outcome: RunOutcome, at now: Moment, record: ExitRecord? = nil,
        detail: String = ""
    ) -> RunStep {
        var move = RunMove(
            run: run.id, from: Self.alive, attempt: run.attempt, to: outcome.state, reason: outcome.reason)
        var attempt = AttemptRecord(run: run.id, n: run.attempt, state: outcome.state)
        attempt.reason = outcome.reason
        attempt.endedAt = now
        move.endedAt = now
        if let record {
            move.startedAt = record.startedAt
            attempt.startedAt = record.startedAt
            move.exitCode = record.exitCode
            attempt.exitCode = record.exitCode
            move.signal = record.signal
            attempt.signal = record.signal
            move.outputBytes = Int64(record.outputBytes)
            move.cpu = record.cpu
            move.maxRssKb = Int64(record.maxResidentKiB)
            if run.startedAt == nil { move.queueDelay = max(.zero, record.startedAt - run.queuedAt) }
        }
        var changes: [Change] = [.moveRun(move), .putAttempt(attempt)]
        if let record, run.startedAt == nil {
            changes.append(event(.runStarted, run, at: record.startedAt))
        }
        changes.append(
            event(outcome.eventType, run, at: now, reason: outcome.reason?.rawValue, detail: detail))
        return RunStep(
            run: run, changes: changes, effects: [.end(outcome)], whenFenced: [.end(outcome)])
    }

    private func event(
        _ type: EventType, _ run: RunRecord, at moment: Moment, reason: String? = nil, detail: String = ""
    ) -> Change {
        .append(
            NewEvent(
                type, at: moment, reason: reason, job: run.job, run: run.id, bot: run.bot, detail: detail))
    }
}
