import Ledger
import Tracking
import WardenProtocol

/// One step of a run: what is written, and what follows once it is written.
struct RunStep: Sendable {
    /// What is done after the commit, or, for a fenced step, instead of it.
    enum Effect: Hashable, Sendable {
        /// The warden may forget the attempt.
        case acknowledge(RunKey)
        /// The order may be sent: `starting` is in the ledger.
        case start
        case wait
        case end(RunOutcome)
    }

    let run: RunRecord
    var changes: [Change]
    var effects: [Effect]
    /// What is done when the guard says that somebody else moved the run first.
    var whenFenced: [Effect] = []
}
