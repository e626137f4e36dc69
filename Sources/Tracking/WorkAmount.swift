import Timeline

/// How much of the work is done, in what it is counted in: `6/12 files`, `34 MB/s`.
public struct WorkAmount: Hashable, Sendable, Codable {
    /// What is done of ``total``, at least 0.
    public var done: Double
    /// The whole, above 0.
    public var total: Double
    /// What is counted, such as `files`; `bytes` for those; absent: not said. Cleaned, at most 16 characters.
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
struct WorkPace: Hashable, Sendable {
    private static let span = Duration.seconds(30)
    private static let least = Duration.seconds(1)
    private static let most = 16

    private var samples: [(at: Moment, done: Double)] = []

    static func == (left: WorkPace, right: WorkPace) -> Bool {
        left.samples.elementsEqual(right.samples) { $0 == $1 }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(samples.count) }

    /// Takes the amount done at `now`, and returns how much is done in a second; nil: not known yet.
    mutating func note(_ done: Double, at now: Moment) -> Double? {
        // An amount that fell is one of other work, and a clock that was set back tells nothing.
        if let last = samples.last, done < last.done || now < last.at { samples = [] }
        samples.removeAll { now - $0.at > Self.span }
        defer {
            if samples.last.map({ now - $0.at >= Self.least }) ?? true {
                samples.append((now, done))
                if samples.count > Self.most { samples.removeFirst() }
            }
        }
        guard let first = samples.first, now - first.at >= Self.least else { return nil }
        return (done - first.done) / ((now - first.at) / .seconds(1))
    }
}
