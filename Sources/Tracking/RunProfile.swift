/// How a run that ended well got on: what the finish time of later runs is estimated from.
public struct RunProfile: Hashable, Sendable, Codable {
    /// Seconds at which each of ``RunTrace/steps`` equal steps was reached, from 0 to all; 65 rising values.
    ///
    /// Empty when the run reported no progress.
    public let reached: [Double]
    /// Seconds the run took, above zero.
    public let total: Double
    /// The longest silence between two reports, in seconds.
    public let largestGap: Double

    /// The profile of a run that reported no progress and took `total` seconds.
    ///
    /// - Returns: `nil` unless `total` is above zero.
    public init?(total: Double) {
        guard total.isFinite, total > 0 else { return nil }
        reached = []
        self.total = total
        largestGap = 0
    }

    /// The profile of a run that got on as `trace` and took `total` seconds.
    ///
    /// What it did not report up to the end is taken as even. A run that reported less than three times
    /// counts as one that reported no progress.
    /// - Returns: `nil` unless `total` is above zero and not before the last report.
    public init?(_ trace: RunTrace, total: Double) {
        guard total.isFinite, total > 0, total >= trace.elapsed else { return nil }
        self.total = total
        guard trace.count >= 3 else {
            reached = []
            largestGap = 0
            return
        }
        var whole = trace
        whole.note(1, at: total)
        reached = whole.reached
        largestGap = whole.largestGap
    }

    /// Whether the run reported progress.
    public var tellsProgress: Bool { reached.count == RunTrace.steps + 1 }

    /// Seconds at which `progress` (0...1) was reached.
    func seconds(at progress: Double) -> Double {
        let place = min(max(progress, 0), 1) * Double(RunTrace.steps)
        let step = min(Int(place), RunTrace.steps - 1)
        return reached[step] + (reached[step + 1] - reached[step]) * (place - Double(step))
    }
}
