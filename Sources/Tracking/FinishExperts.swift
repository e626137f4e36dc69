/// The four ways to say how long a run still needs, each good where the others are not.
///
/// Values are natural logarithms of seconds, since what matters is by which factor one is wrong.
struct FinishExperts {
    /// The pace of the whole run so far.
    static let naive = 0
    /// The pace of the last sixteenth of the work.
    static let recent = 1
    /// The time past runs took from here on, whatever the pace of this one.
    static let flat = 2
    /// The shape of past runs, stretched to the pace of this one.
    static let warp = 3
    static let count = 4

    /// Less than this is never said to be left; keeps logarithms finite.
    static let leastSeconds = 0.001
    /// More than this is never said to be left, three centuries; keeps sums of moments in range.
    static let mostSeconds = 1e10
    /// The stretch of progress the recent pace is taken from.
    static let recentStretch = 1.0 / 16

    /// What each says; `nil` where it has nothing to go by.
    private(set) var says: [Double?] = Array(repeating: nil, count: count)
    /// How unlike the past this run's pace is: 0 for like, 1 for so unlike that past times mean nothing.
    private(set) var strangeness = 0.0

    /// Asks all four.
    ///
    /// - Parameters:
    ///   - progress: above 0 and below 1.
    ///   - elapsed: seconds from the start to the report of `progress`.
    ///   - recent: seconds that the last sixteenth took, if there was one.
    ///   - past: runs that reported progress.
    init(progress: Double, elapsed: Double, recent: Double?, past: [RunProfile]) {
        let left = 1 - progress
        say(Self.naive, elapsed * left / progress)
        if let recent, recent > 0 { say(Self.recent, recent / Self.recentStretch * left) }
        guard !past.isEmpty else { return }
        var rests: [Double] = []
        var ratios: [Double] = []
        var paces: [Double] = []
        for run in past {
            let then = max(run.seconds(at: progress), Self.leastSeconds)
            let rest = max(run.total - then, Self.leastSeconds)
            rests.append(rest)
            ratios.append(rest / then)
            paces.append(Double.log(max(elapsed, Self.leastSeconds) / then))
        }
        say(Self.flat, Statistics.median(&rests))
        say(Self.warp, elapsed * Statistics.median(&ratios))
        let shift = Statistics.median(&paces)
        var spread = paces.map { abs($0 - shift) }
        let usual = max(0.08, 1.48 * Statistics.median(&spread))
        strangeness = min(max((abs(shift) / usual - 2) / 2, 0), 1)
    }

    private mutating func say(_ expert: Int, _ seconds: Double) {
        says[expert] = Double.log(min(max(seconds, Self.leastSeconds), Self.mostSeconds))
    }

    /// The weighted mean of what they say; the time of past runs counts the less, the stranger the pace.
    func blend(_ weights: [Double]) -> Double? {
        var sum = 0.0
        var weight = 0.0
        for expert in 0..<Self.count {
            guard let said = says[expert] else { continue }
            let own = weights[expert] * (expert == Self.flat ? 1 - strangeness : 1)
            sum += own * said
            weight += own
        }
        return weight > 0 ? sum / weight : nil
    }
}
