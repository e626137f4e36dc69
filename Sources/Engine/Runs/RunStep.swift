import Ledger
import Tracking
import WardenProtocol

/// One step of a run: what is written, and what follows once it is written.
struct RunStep: Sendable {
    /// What is done after the commit.
    enum Effect: Hashable, Sendable {
        /// The warden may forget the attempt.
        case acknowledge(RunKey)
        /// The warden is asked what it knows of the attempt.
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

    /// The run after the step.
    var after: RunRecord {
        changes.reduce(into: run) { run, change in
            if case .moveRun(let move) = change, move.run == run.id { run.take(move) }
        }
    }
}
