import Timeline

/// The amount of work that is done, in its unit: `6/12 files`, `34 MB/s`.
public struct WorkAmount: Hashable, Sendable, Codable {
    /// The part of ``total`` that is done, at least 0.
    public var done: Double
    /// The whole, above 0.
    public var total: Double
    /// What is counted, such as `files` or `bytes`; absent: not reported.
    ///
    /// Cleaned, at most 16 characters.
    public var unit: String?
    /// The recent pace, in units per second; absent: not known yet, or the run is not working.
    public var rate: Double?

    /// The most characters of a unit that are kept.
    public static let unitLimit = 16
    /// The unit of what is counted in bytes.
    public static let bytes = "bytes"

    /// An amount of a whole.
    public init(done: Double, total: Double, unit: String? = nil, rate: Double? = nil) {
        (self.done, self.total, self.unit, self.rate) = (done, total, unit, rate)
    }
}

/// How fast an amount grows, measured over the last 30 seconds; known after one second.
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

    /// Notes the amount done at `moment`, and returns how much is done per second; nil: not known yet.
    mutating func note(_ done: Double, at moment: Moment) -> Double? {
        let now = moment.microseconds
        // A lower amount belongs to other work, and a clock that was set back shows no pace.
        if let last = samples.last, done < last.done || now < last.at { samples = [] }
        while let first = samples.first, now &- first.at > Self.span { samples.removeFirst() }
        var rate: Double?
        if let first = samples.first, now &- first.at >= Self.least {
            // Divided by at least one second, so that the pace of any amount is finite.
            rate = (done - first.done) / (Double(now &- first.at) / 1_000_000)
        }
        // Two seconds apart, so that the samples cover the whole span.
        if samples.last.map({ now &- $0.at >= 2 * Self.least }) ?? true {
            samples.append(Sample(at: now, done: done))
            if samples.count > Self.most { samples.removeFirst() }
        }
        return rate
    }
}
