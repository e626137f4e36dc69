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

/// Estimates when a run will be done; no estimate where nothing is known.
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
    /// The same as they were, where ``past`` is what they would take now.
    private let recorded: [RunProfile]
    private let usually: Duration?
    private let reporting: [RunProfile]
    private let training: FinishTraining?

    /// An estimator that learned from past runs.
    ///
    /// Learning takes about a millisecond; do it when a run ends or starts, not at every report.
    /// - Parameters:
    ///   - history: runs that ended well, oldest first; none for a job's first run.
    ///   - usually: how long people expect a run to take, which counts until there were three.
    public init(history: [RunProfile] = [], usually: Duration? = nil) {
        self.usually = usually
        recorded = Array(history.suffix(Self.runsKept))
        past = Drift.removed(from: recorded)
        reporting = past.filter(\.reportsProgress)
        training = reporting.count >= FinishTraining.leastRuns ? FinishTraining(reporting) : nil
    }

    /// Whether it knows any past run, or how long one usually takes.
    public var knowsAnything: Bool { !past.isEmpty || usually != nil }

    /// How long the job usually takes: the middle of its past runs; for fewer than three what is expected, or `nil`.
    public var usual: Duration? {
        guard past.count >= FinishTraining.leastRuns else { return usually }
        var totals = recorded.map(\.total)
        return .seconds(Statistics.median(&totals))
    }

    /// How long a run takes at most in nine of ten cases: the late end of the band when it begins; for fewer than three past
    /// runs `nil`.
    public var usualLimit: Duration? {
        let start = Moment(microseconds: 0)
        return Self.byTime(recorded, usually, startedAt: start, at: start)?.high.map { $0 - start }
    }

    /// The longest silence usual for the job: the middle of the longest ones of its past runs.
    public var usualGap: Duration? {
        guard !reporting.isEmpty else { return nil }
        var gaps = reporting.map(\.largestGap)
        return .seconds(Statistics.median(&gaps))
    }

    /// When the attempt that started at `startedAt` and got on as `trace` will be done.
    ///
    /// Before any progress was reported, `now` counts: the usual time of the runs that took longer than this
    /// one did so far, where there were three runs or more; else what is expected, if anything is.
    /// - Parameters:
    ///   - trace: how it got on; empty where only phases show that.
    ///   - place: the phase it is in, where it named one.
    ///   - startedAt: when it began to work.
    ///   - now: the moment.
    /// - Returns: `nil` when nothing is known, when it takes longer than ever before, and when all of the
    ///   progress was reported already.
    public func finish(
        of trace: RunTrace, in place: PhasePlace? = nil, startedAt: Moment, at now: Moment
    ) -> FinishTime? {
        // What past runs reported by phase, this one does: the progress of its first phase is not that of the whole.
        if let place, trace.count == 0 || reporting.isEmpty,
            let finish = byPhase(place, startedAt: startedAt, at: now)
        {
            return finish
        }
        guard trace.count > 0 else { return byTime(startedAt: startedAt, at: now) }
        guard trace.progress > 0, trace.progress < 1, trace.elapsed > 0 else { return nil }
        guard let rest = rest(of: trace) else {
            return past.count < FinishTraining.leastRuns ? byTime(startedAt: startedAt, at: now) : nil
        }
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
            progress: trace.progress, elapsed: trace.elapsed, recent: trace.recentSeconds, past: reporting)
        guard let training else {
            let isEarly = trace.progress < Self.leastProgress || trace.elapsed < Self.leastElapsed
            if reporting.isEmpty, isEarly { return nil }
            // One or two runs can't say who of the four is right.
            let weights = reporting.isEmpty ? [1, 0, 0, 0] : [0.2, 0, 0.4, 0.4]
            return experts.blend(weights).map { Rest(middle: .exp($0)) }
        }
        let weights = training.weights[FinishTraining.bucket(trace.progress)]
        guard let middle = experts.blend(weights) else { return nil }
        guard let band = training.band(at: trace.progress) else { return Rest(middle: .exp(middle)) }
        let widening = (1 + experts.strangeness) * (reporting.count < Self.surelyEnough ? 1.5 : 1)
        return Rest(
            middle: .exp(middle), low: .exp(middle + band.low * widening),
            high: min(.exp(middle + band.high * widening), FinishExperts.mostSeconds))
    }

    /// Only the phases show where it is: what past runs needed from there on.
    ///
    /// - Returns: `nil` for fewer than three past runs that were in this phase, and when it takes longer than ever before.
    private func byPhase(_ place: PhasePlace, startedAt: Moment, at now: Moment) -> FinishTime? {
        let elapsed = (now - startedAt) / .seconds(1)
        let inPhase = max(0, elapsed - place.since)
        var rests: [Double] = []
        for run in past {
            guard let phase = run.phases.first(where: { $0.name == place.name }) else { continue }
            let after = max(0, run.total - phase.start - phase.seconds)
            // Half way between the pace of those and the pace of this one.
            let pace =
                place.since > run.total / 20 && phase.start > 0
                ? min(max((place.since / phase.start).squareRoot(), 0.25), 4) : 1
            let rest: Double
            if let part = place.progress, part > 0 {
                let flat = phase.seconds * (1 - part)
                let own = inPhase * (1 - part) / part
                rest = part >= Self.leastProgress ? (flat * own).squareRoot() : flat
            } else if phase.seconds > inPhase {
                rest = phase.seconds - inPhase
            } else {
                // By now that run was out of the phase, and says nothing of one that is not.
                continue
            }
            rests.append(rest + after * pace)
        }
        guard rests.count >= FinishTraining.leastRuns else { return nil }
        let sorted = rests.sorted()
        let middle = max(Statistics.median(&rests), FinishExperts.leastSeconds)
        func end(_ part: Double) -> Moment {
            let factor = max(Statistics.quantile(part, of: sorted), FinishExperts.leastSeconds) / middle
            let widening = sorted.count < Self.surelyEnough ? 1.5 : 1
            return now + .seconds(min(middle * .exp(.log(factor) * widening), FinishExperts.mostSeconds))
        }
        return FinishTime(at: now + .seconds(middle), low: end(0.1), high: end(0.9))
    }

    /// Only the times of past runs are known, or this one does not say where it is.
    private func byTime(startedAt: Moment, at now: Moment) -> FinishTime? {
        Self.byTime(past, usually, startedAt: startedAt, at: now)
    }

    private static func byTime(
        _ past: [RunProfile], _ usually: Duration?, startedAt: Moment, at now: Moment
    ) -> FinishTime? {
        guard past.count >= FinishTraining.leastRuns else {
            let end = usually.map { startedAt + $0 }
            return end.flatMap { $0 > now ? FinishTime(at: $0) : nil }
        }
        let elapsed = Double((now - startedAt).microseconds) / 1_000_000
        var longer: [(total: Double, weight: Double)] = []
        var weight = 1.0
        for run in past.reversed() {
            if run.total > elapsed { longer.append((run.total, weight)) }
            weight *= aging
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

    /// The estimate of each; `nil` where it has nothing to go by.
    private(set) var estimates: [Double?] = Array(repeating: nil, count: count)
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
        set(Self.naive, elapsed * left / progress)
        if let recent, recent > 0 { set(Self.recent, recent / Self.recentStretch * left) }
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
        set(Self.flat, Statistics.median(&rests))
        set(Self.warp, elapsed * Statistics.median(&ratios))
        let shift = Statistics.median(&paces)
        var spread = paces.map { abs($0 - shift) }
        let usual = max(0.08, 1.48 * Statistics.median(&spread))
        strangeness = min(max((abs(shift) / usual - 2) / 2, 0), 1)
    }

    private mutating func set(_ expert: Int, _ seconds: Double) {
        estimates[expert] = Double.log(min(max(seconds, Self.leastSeconds), Self.mostSeconds))
    }

    /// The weighted mean of the estimates; the time of past runs counts the less, the stranger the pace.
    func blend(_ weights: [Double]) -> Double? {
        var sum = 0.0
        var weight = 0.0
        for expert in 0..<Self.count {
            guard let estimate = estimates[expert] else { continue }
            let own = weights[expert] * (expert == Self.flat ? 1 - strangeness : 1)
            sum += own * estimate
            weight += own
        }
        return weight > 0 ? sum / weight : nil
    }
}
