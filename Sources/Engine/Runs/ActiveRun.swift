import Ledger
import Tracking

/// A run in the keeper's hands: about to be started, or started.
///
/// Used by its keeper alone; an object because it is read often, and too large to be copied each time.
final class ActiveRun {
    /// As the ledger has it, and as the steps not yet committed will leave it.
    var record: RunRecord
    /// What to do; nil for a run that an earlier daemon started, until somebody asks.
    var spec: JobSpec?
    /// Who performs it.
    let performer: PerformerKind
    /// Where it counts while it is under way.
    let places: [Gate.Name]
    /// The clocks when it began to wait; nil: an earlier daemon saw that.
    var since: ClockReading?
    /// Whether its performer was ordered to start it.
    var isOrdered: Bool
    /// Whether its performer reported it since the connection was made.
    var isKnown = false
    /// Whether its performer was asked about it, and the answer is still to come.
    var isAsked = false
    /// Whether its attempt has ended, and only the commit of that is still to come.
    var isLeaving = false
    /// Whether its attempt has ended, and what follows is not decided yet, because the ledger can't be read.
    var isUndecided = false

    /// A run whose turn it is and that the next commit will claim.
    init(claiming record: RunRecord, _ spec: JobSpec, _ waiting: Waiting) {
        self.record = record
        self.spec = spec
        performer = waiting.performer
        places = waiting.places
        since = waiting.since
        isOrdered = false
        isKnown = true
    }

    /// A run that an earlier daemon started.
    init(adopting record: RunRecord, by performer: PerformerKind, places: [Gate.Name]) {
        self.record = record
        self.performer = performer
        self.places = places
        isOrdered = true
    }

    /// Where it no longer counts once its attempt has ended; one that waits for another attempt keeps its job's turn.
    func placesToLeave(keepsTurn: Bool) -> [Gate.Name] {
        keepsTurn ? places.filter { $0 != .job(record.job) } : places
    }
}
