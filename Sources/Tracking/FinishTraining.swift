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
                trial.experts.estimates[expert].map { abs($0 - trial.truth) }
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

/// A job that takes longer from run to run, or shorter: its past runs, as they would be today.
enum Drift {
    /// With fewer runs than this a trend can't be told from luck.
    private static let least = 8
    /// How sure a trend has to be, in deviations of a test that knows no trend; of each half of the runs, somewhat.
    private static let sure = 2.4
    private static let surePerHalf = 0.6
    /// A run is never taken for one of more than so many times its length.
    private static let most = 3.0

    /// `past`, the oldest first, each run stretched to what the last one would take; as they are where there is no trend.
    ///
    /// A single step is no trend: within both halves of the runs there has to be one.
    /// - Source: Mann, 1945 and Kendall, 1975 for the test; Sen, 1968 for the slope.
    static func removed(from past: [RunProfile]) -> [RunProfile] {
        guard past.count >= least else { return past }
        let times = past.map { Double.log($0.total) }
        let trend = Self.trend(times[...])
        let halves = [times.prefix(times.count / 2), times.suffix(times.count / 2)].map(Self.trend)
        guard abs(trend) > sure, halves.allSatisfy({ $0 * (trend < 0 ? -1 : 1) > surePerHalf }) else {
            return past
        }
        var slopes: [Double] = []
        for later in times.indices {
            for earlier in 0..<later {
                slopes.append((times[later] - times[earlier]) / Double(later - earlier))
            }
        }
        let slope = Statistics.median(&slopes)
        return past.enumerated().map { index, run in
            let factor = Double.exp(slope * Double(past.count - 1 - index))
            return run.stretched(by: min(max(factor, 1 / most), most))
        }
    }

    /// How far the order of `times` is from chance, in deviations; above zero where they rise.
    private static func trend(_ times: ArraySlice<Double>) -> Double {
        var sum = 0.0
        for later in times.indices {
            for earlier in times.startIndex..<later {
                let difference = times[later] - times[earlier]
                sum += difference > 0 ? 1 : difference < 0 ? -1 : 0
            }
        }
        let count = Double(times.count)
        guard sum != 0 else { return 0 }
        let deviation = (count * (count - 1) * (2 * count + 5) / 18).squareRoot()
        return (sum > 0 ? sum - 1 : sum + 1) / deviation
    }
}

/// The little arithmetic that estimates need; the standard library has none, and these targets use no other.
enum Statistics {
    /// The middle of `values`, or the mean of the two middle ones.
    ///
    /// Sorts them. `values` is not empty.
    static func median(_ values: inout [Double]) -> Double {
        values.sort()
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }

    /// The value below which `part` (0...1) of the sorted `values` lie, between neighbours evenly.
    ///
    /// Placed as if one more value were to come, so that it holds for the next one too.
    static func quantile(_ part: Double, of values: [Double]) -> Double {
        let place = min(max(part * Double(values.count + 1) - 1, 0), Double(values.count - 1))
        let index = min(Int(place), values.count - 1)
        let next = min(index + 1, values.count - 1)
        return values[index] + (values[next] - values[index]) * (place - Double(index))
    }
}

extension Double {
    /// The natural logarithm of a number above zero.
    ///
    /// By the exponent of the number and a series for what is left of it, good to 1e-14.
    static func log(_ number: Double) -> Double {
        var fraction = number.significand
        var exponent = Double(number.exponent)
        if fraction > 1.414_213_562_373_095 {
            fraction /= 2
            exponent += 1
        }
        let ratio = (fraction - 1) / (fraction + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        for odd in stride(from: 1.0, through: 21, by: 2) {
            sum += term / odd
            term *= square
        }
        return 2 * sum + exponent * 0.693_147_180_559_945_3
    }

    /// e to the power of `number`, for numbers within -700...700.
    ///
    /// By whole powers of two and a series for the rest, good to 1e-14.
    static func exp(_ number: Double) -> Double {
        let power = (number / 0.693_147_180_559_945_3).rounded()
        let rest = number - power * 0.693_147_180_559_945_3
        var term = 1.0
        var sum = 1.0
        for step in 1...14 {
            term *= rest / Double(step)
            sum += term
        }
        return Double(sign: .plus, exponent: Int(power), significand: sum)
    }
}
