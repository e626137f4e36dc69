import Ledger
import Performing
import Tracking

/// One step of a run: what is written, and what follows once it is written.
struct RunStep: Sendable {
    /// What is done after the commit.
    enum Effect: Hashable, Sendable {
        /// The performer may forget the attempt.
        case acknowledge(RunKey)
        /// The performer is asked what it knows of the attempt.
        case ask(RunKey)
        /// The order may be sent: `starting` is in the ledger.
        case start
        /// It waits, for its turn or for the moment of another attempt.
        case wait
        case end(RunOutcome)
    }

    /// The run before the step.
    let run: RunRecord
    /// The step of its row.
    var move: RunMove
    /// The row of its attempt.
    var attempt: AttemptRecord?
    /// Its live state, where the step decides it.
    var live: LiveState?
    var events: [NewEvent] = []
    var effects: [Effect] = []

    /// What is written, in this order.
    var changes: [Change] {
        var changes = [Change.moveRun(move)]
        if let attempt { changes.append(.putAttempt(attempt)) }
        if let live { changes.append(.saveLive(run: run.id, live)) }
        for event in events { changes.append(.append(event)) }
        return changes
    }

    /// The run after the step.
    var after: RunRecord {
        var after = run
        after.apply(move)
        return after
    }

    /// Whether the run is no longer under way after it: it has ended, or waits again.
    var leavesHands: Bool { move.to.isEnded || move.to == .queued }

    /// The start of an attempt and its end, `next`, as one step: the state between them is never committed.
    ///
    /// - Returns: nil when this is no start or `next` not its end.
    func followed(by next: RunStep) -> RunStep? {
        guard effects.isEmpty, move.to == .running, let begun = attempt, let ended = next.attempt,
            begun.run == ended.run, begun.n == ended.n
        else { return nil }
        return RunStep(
            run: run, move: move.followed(by: next.move), attempt: ended, live: next.live,
            events: events + next.events, effects: next.effects)
    }
}
