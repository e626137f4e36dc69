import Ledger
import Tracking

/// A run in the keeper's hands: about to be started, or started.
struct ActiveRun {
    /// As the ledger has it, and as the steps not yet committed will leave it.
    ///
    /// `queued` until its start is ordered.
    var record: RunRecord
    /// What to do; nil for a run that an earlier daemon started.
    var spec: JobSpec?
    /// Whether the warden spoke of it since the connection was made.
    var isKnown = false
    /// Whether a person wants it ended: said to the warden as soon as it can be heard, and again after each
    /// new connection.
    var isCanceled = false

    /// Whether the warden was told to start it.
    var isOrdered: Bool { record.state != .queued }
}
