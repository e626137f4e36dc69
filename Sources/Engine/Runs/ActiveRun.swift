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
    /// Where it counts while it is under way.
    var places: [Gate.Name]
    /// The clocks when it began to wait; nil: an earlier daemon saw that.
    var since: ClockReading?
    /// Whether the warden was told to start it.
    var isOrdered: Bool
    /// Whether the warden spoke of it since the connection was made.
    var isKnown = false
    /// Whether the warden was asked of it, and the answer is still to come.
    var isAsked = false
    /// Whether its attempt is over, and only the commit that says so is still to come.
    var isLeaving = false

    /// Whether its attempt is over, and what follows is not decided yet, because the ledger can't be read.
    var isUndecided = false

    /// A run that the next commit will claim.
    init(claiming record: RunRecord, _ spec: JobSpec, places: [Gate.Name], since: ClockReading?) {
        self.record = record
        self.since = since
        self.spec = spec
        self.places = places
        isOrdered = false
        isKnown = true
    }

    /// A run that an earlier daemon started.
    init(adopting record: RunRecord, places: [Gate.Name]) {
        self.record = record
        self.places = places
        isOrdered = true
    }
}
