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
    var changes: [Change]
    var effects: [Effect] = []

    /// The start of an attempt and its end, `next`, as one step: what stands between them in one commit nobody sees.
    ///
    /// - Returns: nil when this is no start or `next` not its end.
    func followed(by next: RunStep) -> RunStep? {
        guard effects.isEmpty, case .moveRun(let start)? = changes.first, start.to == .running,
            case .putAttempt(let begun)? = changes.dropFirst().first,
            case .moveRun(let end)? = next.changes.first,
            case .putAttempt(let ended)? = next.changes.dropFirst().first,
            begun.run == ended.run, begun.n == ended.n
        else { return nil }
        let both: [Change] = [.moveRun(start.followed(by: end)), .putAttempt(ended)]
        return RunStep(
            run: run, changes: both + changes.dropFirst(2) + next.changes.dropFirst(2), effects: next.effects)
    }

    /// The run after the step.
    var after: RunRecord {
        changes.reduce(into: run) { run, change in
            if case .moveRun(let move) = change, move.run == run.id { run.apply(move) }
        }
    }
}
