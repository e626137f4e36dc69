/// The order of updates: by run, then attempt, then seq.
///
/// An update that is not after the last one seen is dropped.
///
/// Ids of runs are UUIDv7 and sort by the time they were made; comparing across runs only matters to
/// whoever keeps one sorted list.
public struct LiveOrder: Hashable, Sendable, Comparable {
    /// The run's id.
    public var runID: String
    /// Which execution of the run, from 1.
    public var attempt: Int
    /// Rises with every update of the attempt, also across restarts of the daemon.
    public var seq: Int64

    /// The place of an update.
    public init(runID: String, attempt: Int, seq: Int64) {
        self.runID = runID
        self.attempt = attempt
        self.seq = seq
    }

    /// The first `seq` of a daemon's `incarnation`, counted from 1: incarnation times 10^9.
    ///
    /// A seq that is saved now and then goes back after a crash; one that starts anew at a higher
    /// thousand million does not.
    /// - Parameter incarnation: how often a daemon was started on this state; 1...9,000,000,000.
    /// - Returns: a seq above every seq of the incarnations before.
    public static func firstSeq(incarnation: Int64) -> Int64 { incarnation * 1_000_000_000 }

    /// Earlier updates are smaller.
    public static func < (left: LiveOrder, right: LiveOrder) -> Bool {
        (left.runID, left.attempt, left.seq) < (right.runID, right.attempt, right.seq)
    }
}
