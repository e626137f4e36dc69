import Ledger
import Tracking

/// A run in the keeper's hands: about to be started, or started.
///
/// An object of the keeper's alone: it is looked at often, and too large to be copied each time.
final class ActiveRun {
    /// As the ledger has it, and as the steps not yet committed will leave it.
    var record: RunRecord
    /// What to do; nil for a run that an earlier daemon started, until somebody asks.
    var spec: JobSpec?
    /// Who performs it.
    let performer: PerformerKind
    /// Where it counts while it is under way.
    var places: [Gate.Name]
    /// The clocks when it began to wait; nil: an earlier daemon saw that.
    var since: ClockReading?
    /// Whether its performer was ordered to start it.
    var isOrdered: Bool
    /// Whether its performer reported it since the connection was made.
    var isKnown = false
    /// Whether its performer was asked about it, and the answer is still to come.
    var isAsked = false
    /// Whether its attempt is over, and only the commit that says so is still to come.
    var isLeaving = false

    /// Whether its attempt is over, and what follows is not decided yet, because the ledger can't be read.
    var isUndecided = false

    /// A run that the next commit will claim.
    init(
        claiming record: RunRecord, _ spec: JobSpec, by performer: PerformerKind, places: [Gate.Name],
        since: ClockReading?
    ) {
        self.record = record
        self.performer = performer
        self.since = since
        self.spec = spec
        self.places = places
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
}
