/// Which expert to believe at which progress, learned from past runs by leaving each out in turn.
struct FinishTraining: Hashable, Sendable {
    /// The stretches of progress that are learned apart.
    static let buckets = 18
    /// Fewer past runs than this teach nothing about each other.
    static let leastRuns = 3

    /// The weight of each expert, by bucket.
    private(set) var weights: [[Double]] = []
    /// By bucket, sorted: logarithms of the factor by which the truth was above the blend.
    private var residuals: [[Double]] = []

    /// Learns from runs that reported progress; at least ``leastRuns``, of about 20.
    init(_ past: [RunProfile]) {
        var own: [[Double]] = []
        for bucket in 0..<Self.buckets {
            let progress = (Double(bucket) + 0.5) / Double(Self.buckets)
            let trials = past.indices.map { Trial(leaving: $0, of: past, at: progress) }
            let weight = Self.weights(trials)
            weights.append(weight)
            own.append(trials.compactMap { trial in trial.experts.blend(weight).map { trial.truth - $0 } })
        }
        // Twenty values are few for a band; the neighbours' errors are much the same.
        residuals = own.indices.map { bucket in
            own[max(0, bucket - 1)...min(Self.buckets - 1, bucket + 1)].joined().sorted()
        }
    }

    /// The bucket that `progress` is in.
    static func bucket(_ progress: Double) -> Int {
        min(max(Int(progress * Double(buckets)), 0), buckets - 1)
    }

    /// By which factors, as logarithms, the truth lies below and above the blend in 8 of 10 cases.
    func band(at progress: Double) -> (low: Double, high: Double)? {
        let errors = residuals[Self.bucket(progress)]
        guard !errors.isEmpty else { return nil }
        return (
            min(0, Statistics.quantile(0.1, of: errors)), max(0, Statistics.quantile(0.9, of: errors))
        )
    }

    /// The mean error, as a variance, to the power of -1.5: the best expert counts most by far.
    private static func weights(_ trials: [Trial]) -> [Double] {
        (0..<FinishExperts.count).map { expert in
            let errors = trials.compactMap { trial in
                trial.experts.says[expert].map { abs($0 - trial.truth) }
            }
            guard !errors.isEmpty else { return 0 }
            let mean = errors.reduce(0, +) / Double(errors.count)
            let variance = 1.57 * mean * mean + 0.0002
            return 1 / (variance * variance.squareRoot())
        }
    }

    /// One past run, judged as if it were under way and only the others were known.
    private struct Trial {
        let experts: FinishExperts
        /// The logarithm of the seconds it really needed from there on.
        let truth: Double

        init(leaving index: Int, of past: [RunProfile], at progress: Double) {
            let run = past[index]
            var others = past
            others.remove(at: index)
            let elapsed = run.seconds(at: progress)
            let before = progress - FinishExperts.recentStretch
            experts = FinishExperts(
                progress: progress, elapsed: elapsed,
                recent: before > 0 ? elapsed - run.seconds(at: before) : nil, past: others)
            truth = Double.log(max(run.total - elapsed, FinishExperts.leastSeconds))
        }
    }
}
