import Timeline

/// How much of the work is done, in what it is counted in: `6/12 files`, `34 MB/s`.
public struct WorkAmount: Hashable, Sendable, Codable {
    /// What is done of ``total``, at least 0.
    public var done: Double
    /// The whole, above 0.
    public var total: Double
    /// What is counted, such as `files`; `bytes` for those; absent: not said.
    ///
    /// Cleaned, at most 16 characters.
    public var unit: String?
    /// How much of it is done in a second, lately; absent: not known yet, or not at work.
    public var rate: Double?

    /// The most characters of a unit that are kept.
    public static let unitLimit = 16
    /// The unit of what is counted in bytes.
    public static let bytes = "bytes"

    /// So much of a whole.
    public init(done: Double, total: Double, unit: String? = nil, rate: Double? = nil) {
        (self.done, self.total, self.unit, self.rate) = (done, total, unit, rate)
    }
}

/// How fast an amount grows: over the last half minute, and from the second second on.
struct WorkPace: Sendable {
    private struct Sample {
        /// In microseconds.
        var at: Int64
        var done: Double
    }

    private static let span: Int64 = 30_000_000
    private static let least: Int64 = 1_000_000
    private static let most = 16

    private var samples: [Sample] = []

    /// Takes the amount done at `now`, and returns how much is done in a second; nil: not known yet.
    mutating func note(_ done: Double, at moment: Moment) -> Double? {
        let now = moment.microseconds
        // An amount that fell is one of other work, and a clock that was set back tells nothing.
        if let last = samples.last, done < last.done || now < last.at { samples = [] }
        while let first = samples.first, now &- first.at > Self.span { samples.removeFirst() }
        var rate: Double?
        if let first = samples.first, now &- first.at >= Self.least {
            // By seconds, of which there is one at least: the pace of whatever number is a number.
            rate = (done - first.done) / (Double(now &- first.at) / 1_000_000)
        }
        // Two seconds apart, so that all of the span is in them.
        if samples.last.map({ now &- $0.at >= 2 * Self.least }) ?? true {
            samples.append(Sample(at: now, done: done))
            if samples.count > Self.most { samples.removeFirst() }
        }
        return rate
    }
}
