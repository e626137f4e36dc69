import Ledger
import Logging
import Performing
import Synchronization
import Timeline
import Tracking

/// The runs that have no process while a person is asked: each is resumed, as another attempt, once none of its questions
/// is open.
///
/// The rows say all of it: a run that is parked stays so over any end of the daemon, and of the machine.
struct ParkedRuns {
    private var runs: [String: RunRecord] = [:]
    /// Whether a question may have been closed since the last look.
    let news = Notice()

    /// Set by whoever sees a commit, taken by the keeper.
    final class Notice: Sendable {
        private let isSet = Atomic(true)

        func set() { isSet.store(true, ordering: .releasing) }

        /// Whether it was set; it no longer is.
        func take() -> Bool { isSet.exchange(false, ordering: .acquiringAndReleasing) }
    }

    subscript(id: String) -> RunRecord? {
        get { runs[id] }
        set { runs[id] = newValue }
    }

    /// Those that may go on, in the order in which they were made; `asking` are the runs with an open question.
    func ready(_ asking: Set<String>) -> [RunRecord] {
        runs.values.filter { !asking.contains($0.id) }.sorted { $0.id < $1.id }
    }

    var isEmpty: Bool { runs.isEmpty }
}

extension RunRecord {
    /// Whether it waits for a person without a process.
    package var isParked: Bool { state == .blocked && live?.parked?.waits == true }

    /// Which of the attempts that it may fail it is at, from 1: one that goes on after a question is none of them.
    var tries: Int { attempt - (live?.parked?.resumed ?? 0) }
}

extension RunDecider {
    /// The run's program has ended in the middle of a call for which a person is asked: the run waits without it.
    func parked(
        _ run: RunRecord, _ record: ExitRecord, _ live: LiveState?,
        clockChange: Duration = .zero
    ) -> RunStep {
        let now = max(record.end, record.startedAt)
        var move = RunMove(run, from: Self.alive, to: .blocked)
        let events = begin(run, at: record.startedAt, clockChange, &move)
        if let usage = record.usage { move.usage = run.usage.map { $0 + usage } ?? usage }
        let outcome = RunOutcome(.completed)
        var attempt = AttemptRecord(of: run, outcome, record, at: now)
        attempt.usage = record.usage
        return RunStep(
            run: run, move: move, attempt: attempt,
            reply: BotReply(run, record, outcome, month: month(now), at: now), live: live, events: events,
            effects: [.acknowledge(record.key), .park])
    }

    /// A parked run of an earlier daemon is ours from now on.
    func adoptParked(_ run: RunRecord) -> RunStep {
        var move = RunMove(run, from: [.blocked], to: .blocked, reason: run.reason)
        move.nextToken = run.token + 1
        return RunStep(run: run, move: move)
    }

    /// None of its questions is open: it goes on, as another attempt.
    func unparked(_ run: RunRecord) -> RunStep {
        var move = RunMove(run, from: [.blocked], to: .queued)
        move.nextAttempt = run.attempt + 1
        return RunStep(run: run, move: move, effects: [.wait])
    }
}

extension LiveState.Parked {
    /// The run that waits so, after it waited as `earlier`.
    func following(_ earlier: LiveState.Parked?) -> LiveState.Parked {
        var parked = self
        parked.resumed = earlier?.resumed ?? 0
        return parked
    }

    /// It goes on.
    var goingOn: LiveState.Parked {
        var parked = self
        (parked.waits, parked.resumed) = (false, resumed + 1)
        return parked
    }
}

extension RunKeeper {
    /// The attempt's program waits for a person.
    func park(
        _ run: RunRecord, _ record: ExitRecord, _ parked: LiveState.Parked
    ) async -> RunStep {
        let live = await board.note(parked.following(run.live?.parked), of: run.id, at: clock.now)
        let step = decider.parked(run, record, live, clockChange: clockChange(since: run.id))
        runs.noteEnd(step.after)
        return step
    }

    /// The run was parked by an earlier daemon, or its row was changed since it is.
    func keepParked(_ run: RunRecord, into steps: inout [RunStep]) async {
        if run.endAsked != nil {
            parked[run.id] = nil
            return steps.append(await closing(decider.withdrawn(run, at: clock.now)))
        }
        guard parked[run.id] == nil else { return }
        let step = decider.adoptParked(run)
        steps.append(step)
        await board.enter(
            task(of: run), attempt: run.attempt, state: run.state, saved: run.live, at: clock.now)
        if let past = run.live?.parked { _ = await board.note(past, of: run.id, at: clock.now) }
        hold(step.after)
    }

    /// The run is parked from now on; the others of its job go on waiting for its end.
    func hold(_ run: RunRecord) {
        parked[run.id] = run
        runs.queue.enter(run.id, [.job(run.job)])
        parked.news.set()
        loop.bell.ring()
    }

    /// Resumes the parked runs that no longer wait for a question.
    func resumeParked(into steps: inout [RunStep]) async {
        guard !parked.isEmpty, parked.news.take() else { return }
        do throws(LedgerError) {
            let asking = Set(try await ledger.openQuestions().compactMap(\.run))
            for run in parked.ready(asking) {
                parked[run.id] = nil
                if let past = run.live?.parked {
                    _ = await board.note(past.goingOn, of: run.id, at: clock.now)
                }
                steps.append(await closing(decider.unparked(run)))
                logger.info("a parked run continues", metadata: ["run.id": "\(run.name)"])
            }
        } catch {
            parked.news.set()
            unrecorded.note(error)
        }
    }
}
