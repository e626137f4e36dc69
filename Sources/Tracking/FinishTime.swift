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

    /// What may be shown of it at `now`: the surer it is, the more.
    ///
    /// - Returns: `nil` when it has passed, and when the late end of the band is more than four times as far away as
    ///   the early one.
    public func claim(at now: Moment) -> FinishClaim? {
        guard at > now else { return nil }
        guard let low, let high else { return .roughly(at - now) }
        let least = max(low - now, .seconds(1))
        let most = max(high - now, least)
        if most / least <= 1.5 { return .about(at - now) }
        return most / least <= 4 ? .between(least, most) : nil
    }
}

/// How long a run still needs, no more certain than is known.
public enum FinishClaim: Hashable, Sendable {
    /// So long, as the past runs of the job agree.
    case about(Duration)
    /// At the pace so far; too few past runs say how far off that is.
    case roughly(Duration)
    /// In 8 of 10 cases no less than the first and no more than the second.
    case between(Duration, Duration)

    /// `about 6 s left`, `~6 s left`, `9 to 14 min left`.
    public var words: String {
        switch self {
        case .about(let left): "about \(Self.rounded(left).words) left"
        case .roughly(let left): "~\(Self.rounded(left).words) left"
        case .between(let least, let most): Self.range(least, most)
        }
    }

    /// Rounded to what an estimate is worth: 1 s below 10 s, 5 s below a minute, 15 s below 5, a minute below an hour,
    /// then 5 minutes; never below 1 s.
    static func rounded(_ duration: Duration) -> Duration {
        let seconds = max(1, (duration.milliseconds + 500) / 1000)
        let step: Int64 =
            switch seconds {
            case ..<10: 1
            case ..<60: 5
            case ..<300: 15
            case ..<3600: 60
            default: 300
            }
        return .seconds((seconds + step / 2) / step * step)
    }

    /// Both ends in the unit of the later one.
    private static func range(_ least: Duration, _ most: Duration) -> String {
        let (low, high) = (least.components.seconds, most.components.seconds)
        let (unit, mark): (Int64, String) =
            switch high {
            case ..<120: (1, "s")
            case ..<7200: (60, "min")
            case ..<172_800: (3600, "h")
            default: (86400, "d")
            }
        return "\(max(1, low / unit)) to \((high + unit - 1) / unit) \(mark) left"
    }
}
