public import Timeline

/// Says when a run will be done, and says nothing when it does not know.
///
/// Blends the pace so far with the last 20 successes of the job, by how good each was at this progress
/// before. Without past runs there is only the pace, and that counts for nothing before 5 % and 15 s.
/// Nothing is random and no clock is read: the same run gives the same answer.
public struct FinishEstimator: Hashable, Sendable {
    /// The past runs that count; more are ignored, the oldest first.
    public static let runsKept = 20
    /// Below this progress the pace alone says nothing.
    static let leastProgress = 0.05
    /// Before this many seconds the pace alone says nothing.
    static let leastElapsed = 15.0
    /// With fewer runs than this a band is too narrow, and is widened.
    static let surelyEnough = 10
    /// How much less a run counts than the one after it, when only times are known.
    static let aging = 0.9

    private let past: [RunProfile]
    private let telling: [RunProfile]
    private let training: FinishTraining?

    /// An estimator that learned from past runs.
    ///
    /// Learning takes about a millisecond; do it when a run ends or starts, not at every report.
    /// - Parameter history: runs that ended well, oldest first; none for a job's first run.
    public init(history: [RunProfile] = []) {
        past = Array(history.suffix(Self.runsKept))
        telling = past.filter(\.tellsProgress)
        training = telling.count >= FinishTraining.leastRuns ? FinishTraining(telling) : nil
    }

    /// How long the job usually takes: the middle of its past runs.
    public var usualTotal: Duration? {
        guard !past.isEmpty else { return nil }
        var totals = past.map(\.total)
        return .seconds(Statistics.median(&totals))
    }

    /// The longest silence usual for the job: the middle of the longest ones of its past runs.
    public var usualGap: Duration? {
        guard !telling.isEmpty else { return nil }
        var gaps = telling.map(\.largestGap)
        return .seconds(Statistics.median(&gaps))
    }

    /// When the attempt that started at `startedAt` and got on as `trace` will be done.
    ///
    /// Before any progress was reported, `now` counts: the usual time of the runs that took longer than this
    /// one did so far.
    /// - Returns: `nil` when nothing is known, when it takes longer than ever before, and when all of the
    ///   progress was reported already.
    public func finish(of trace: RunTrace, startedAt: Moment, at now: Moment) -> FinishTime? {
        guard trace.count > 0 else { return byTime(startedAt: startedAt, at: now) }
        guard trace.progress > 0, trace.progress < 1, trace.elapsed > 0 else { return nil }
        guard let rest = rest(of: trace) else { return nil }
        let reportedAt = startedAt + .seconds(trace.elapsed)
        return FinishTime(
            at: reportedAt + .seconds(rest.middle), low: rest.low.map { reportedAt + .seconds($0) },
            high: rest.high.map { reportedAt + .seconds($0) })
    }

    /// Seconds from the last report on.
    private struct Rest {
        var middle: Double
        var low: Double?
        var high: Double?
    }

    private func rest(of trace: RunTrace) -> Rest? {
        let experts = FinishExperts(
            progress: trace.progress, elapsed: trace.elapsed, recent: trace.recentSeconds, past: telling)
        guard let training else {
            let isEarly = trace.progress < Self.leastProgress || trace.elapsed < Self.leastElapsed
            if telling.isEmpty, isEarly { return nil }
            // One or two runs can't say who of the four is right.
            let weights = telling.isEmpty ? [1, 0, 0, 0] : [0.2, 0, 0.4, 0.4]
            return experts.blend(weights).map { Rest(middle: .exp($0)) }
        }
        let weights = training.weights[FinishTraining.bucket(trace.progress)]
        guard let middle = experts.blend(weights) else { return nil }
        guard let band = training.band(at: trace.progress) else { return Rest(middle: .exp(middle)) }
        let widening = (1 + experts.strangeness) * (telling.count < Self.surelyEnough ? 1.5 : 1)
        return Rest(
            middle: .exp(middle), low: .exp(middle + band.low * widening),
            high: min(.exp(middle + band.high * widening), FinishExperts.mostSeconds))
    }

    /// Only the times of past runs are known, or this one does not say where it is.
    private func byTime(startedAt: Moment, at now: Moment) -> FinishTime? {
        let elapsed = Double((now - startedAt).microseconds) / 1_000_000
        var longer: [(total: Double, weight: Double)] = []
        var weight = 1.0
        for run in past.reversed() {
            if run.total > elapsed { longer.append((run.total, weight)) }
            weight *= Self.aging
        }
        guard !longer.isEmpty else { return nil }
        longer.sort { $0.total < $1.total }
        let whole = longer.reduce(0) { $0 + $1.weight }
        func place(_ part: Double) -> Moment {
            var sum = 0.0
            let found = longer.first { run in
                sum += run.weight
                return sum >= part * whole
            }
            return startedAt + .seconds(found?.total ?? longer[longer.count - 1].total)
        }
        guard longer.count >= FinishTraining.leastRuns else { return FinishTime(at: place(0.5)) }
        return FinishTime(at: place(0.5), low: place(0.1), high: place(0.9))
    }
}
