public import Timeline

/// When a run is expected to be done, and how sure that is.
public struct FinishTime: Hashable, Sendable, Codable {
    /// The expected moment.
    public var at: Moment
    /// The early end of the 80 % band; absent when there is no history to make one of.
    public var low: Moment?
    /// The late end of the 80 % band; absent when there is no history to make one of.
    public var high: Moment?

    /// A finish at `at`, within `low` and `high` where they are known.
    public init(at: Moment, low: Moment? = nil, high: Moment? = nil) {
        self.at = at
        self.low = low
        self.high = high
    }
}
