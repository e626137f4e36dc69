public import Timeline

/// Says when a run will be done, and says nothing when it does not know.
///
/// Without past runs there is only the pace so far, and that counts for nothing before 5 % and 15 s.
public struct FinishEstimator: Hashable, Sendable {
    /// Below this progress the pace so far says nothing.
    static let leastProgress = 0.05
    /// Before this many seconds the pace so far says nothing.
    static let leastElapsed = 15.0

    /// An estimator that knows of no past run.
    public init() {}

    /// When the attempt that started at `startedAt` and got on as `trace` will be done.
    ///
    /// - Returns: `nil` when nothing is known, and when all of the progress was told already.
    public func finish(of trace: RunTrace, startedAt: Moment) -> FinishTime? {
        let (progress, elapsed) = (trace.progress, trace.elapsed)
        guard progress >= Self.leastProgress, progress < 1, elapsed >= Self.leastElapsed else { return nil }
        let remaining = elapsed * (1 - progress) / progress
        return FinishTime(at: startedAt + .microseconds(Int64((elapsed + remaining) * 1_000_000)))
    }
}
