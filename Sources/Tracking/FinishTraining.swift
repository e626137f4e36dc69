/// How one attempt got on: the seconds it needed to reach each of 64 equal steps of progress.
public struct RunTrace: Hashable, Sendable, Codable {
    /// The number of equal steps a run's progress is divided into.
    public static let steps = 64

    /// The last progress reported, 0...1.
    public private(set) var progress = 0.0
    /// Seconds from the start to the report with ``progress``.
    public private(set) var elapsed = 0.0
    /// The longest time between two reports, in seconds.
    public private(set) var largestGap = 0.0
    /// Reports noted so far.
    public private(set) var count = 0
    /// Seconds at which each step was reached, as far as it is; a step within one report is interpolated.
    public private(set) var reached: [Double] = [0]

    /// A trace of an attempt without a report yet.
    public init() {}

    /// Notes that `progress` (0...1) was reported `elapsed` seconds after the start.
    ///
    /// What lies before the last report, in progress or in time, is ignored.
    public mutating func note(_ progress: Double, at elapsed: Double) {
        guard progress.isFinite, elapsed.isFinite, elapsed >= self.elapsed, progress >= self.progress else {
            return
        }
        let next = min(progress, 1)
        while reached.count <= Self.steps {
            let step = Double(reached.count) / Double(Self.steps)
            guard step <= next else { break }
            let part = next > self.progress ? (step - self.progress) / (next - self.progress) : 1
            reached.append(self.elapsed + (elapsed - self.elapsed) * part)
        }
        largestGap = max(largestGap, elapsed - self.elapsed)
        self.progress = next
        self.elapsed = elapsed
        count += 1
    }

    /// Seconds that the last sixteenth of the progress took; `nil` before there was one.
    var recentSeconds: Double? {
        let before = progress - FinishExperts.recentStretch
        guard before > 0 else { return nil }
        let place = before * Double(Self.steps)
        let step = Int(place)
        guard step + 1 < reached.count else { return nil }
        return elapsed - (reached[step] + (reached[step + 1] - reached[step]) * (place - Double(step)))
    }
}

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
    /// The phases it named, in the order in which it came to them; at most 16.
    public let phases: [PhaseTime]
    /// Distinguishes the argument lists of commands of one name; absent where all runs do the same.
    public var arguments: UInt32?

    /// The profile of a run that reported no progress and took `total` seconds.
    ///
    /// - Returns: `nil` unless `total` is above zero.
    public init?(total: Double, phases: [PhaseTime] = []) {
        guard total.isFinite, total > 0 else { return nil }
        self.init(reached: [], total: total, largestGap: 0, phases: phases)
    }

    /// The profile of a run that got on as `trace` and took `total` seconds.
    ///
    /// What it did not report up to the end is taken as even. A run that reported less than three times
    /// counts as one that reported no progress.
    /// - Returns: `nil` unless `total` is above zero and not before the last report.
    public init?(_ trace: RunTrace, total: Double, phases: [PhaseTime] = []) {
        guard total.isFinite, total > 0, total >= trace.elapsed else { return nil }
        guard trace.count >= 3 else {
            self.init(total: total, phases: phases)
            return
        }
        var whole = trace
        whole.note(1, at: total)
        self.init(reached: whole.reached, total: total, largestGap: whole.largestGap, phases: phases)
    }

    /// A profile as it was stored: `reached` is empty, or 65 rising values from 0 to `total`.
    init(reached: [Double], total: Double, largestGap: Double, phases: [PhaseTime] = []) {
        self.reached = reached
        self.total = total
        self.largestGap = largestGap
        self.phases = phases
    }

    /// A number that distinguishes this argument list from others of the same program, the same for each run.
    public static func mark(ofArguments list: [String]) -> UInt32 {
        // FNV-1a, with a zero byte behind each argument as the kernel has it.
        var hash: UInt32 = 2_166_136_261
        for argument in list {
            for byte in Array(argument.utf8) + [0] { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        }
        return hash
    }

    /// The same run, had it been slower by `factor`.
    func stretched(by factor: Double) -> RunProfile {
        var run = RunProfile(
            reached: reached.map { $0 * factor }, total: total * factor, largestGap: largestGap * factor,
            phases: phases.map {
                PhaseTime(name: $0.name, start: $0.start * factor, seconds: $0.seconds * factor)
            })
        run.arguments = arguments
        return run
    }

    /// Whether the run reported progress.
    public var reportsProgress: Bool { reached.count == RunTrace.steps + 1 }

    /// Seconds at which `progress` (0...1) was reached.
    func seconds(at progress: Double) -> Double {
        let place = min(max(progress, 0), 1) * Double(RunTrace.steps)
        let step = min(Int(place), RunTrace.steps - 1)
        return reached[step] + (reached[step + 1] - reached[step]) * (place - Double(step))
    }
}

extension [RunProfile] {
    /// Those of runs with these arguments, where there are any; else all of them.
    public func alike(_ arguments: UInt32?) -> [RunProfile] {
        let alike = filter { $0.arguments == arguments }
        return alike.isEmpty ? self : alike
    }
}

/// The stored form of a profile: 5 bytes for a run without progress, 135 for one with it; phases and arguments on top.
///
/// A version, the total and the longest silence as 32-bit floating point numbers, then the inner steps as shares of the
/// total in 16 bits, the most significant byte first: a step of a ten-hour run is off by half a second at most. A run with
/// phases or arguments is of version 2: behind the total a byte shows which parts follow.
extension RunProfile {
    /// The forms so far; one that is not known is read as no profile.
    private static let version: UInt8 = 1
    private static let versionWithPhases: UInt8 = 2
    private static let reportsProgressBit: UInt8 = 1
    private static let argumentsBit: UInt8 = 2
    private static let nameLimit = 120

    /// The profile as it is stored with its run.
    public var bytes: [UInt8] {
        let isSimple = phases.isEmpty && arguments == nil
        var bytes = [isSimple ? Self.version : Self.versionWithPhases]
        bytes.append(bigEndian: Float(total).bitPattern)
        if !isSimple {
            bytes.append(
                (reportsProgress ? Self.reportsProgressBit : 0) | (arguments == nil ? 0 : Self.argumentsBit))
        }
        if reportsProgress {
            bytes.append(bigEndian: Float(largestGap).bitPattern)
            for seconds in reached[1..<RunTrace.steps] {
                let share = min(max(seconds / total, 0), 1)
                bytes.append(bigEndian: UInt16((share * Double(UInt16.max)).rounded()))
            }
        }
        guard !isSimple else { return bytes }
        if let arguments { bytes.append(bigEndian: arguments) }
        for phase in phases.prefix(PhaseClock.limit) {
            var name = phase.name
            while name.utf8.count > Self.nameLimit { name.removeLast() }
            bytes.append(bigEndian: Float(phase.start).bitPattern)
            bytes.append(bigEndian: Float(phase.seconds).bitPattern)
            bytes.append(UInt8(name.utf8.count))
            bytes += Array(name.utf8)
        }
        return bytes
    }

    /// The profile that was stored as `bytes`.
    ///
    /// - Returns: `nil` when they are none, or of a later Belfry.
    public init?(bytes: [UInt8]) {
        guard let version = bytes.first, version == Self.version || version == Self.versionWithPhases else {
            return nil
        }
        var rest = bytes.dropFirst()
        guard let total = rest.takeSeconds(), total > 0 else { return nil }
        var parts: UInt8 = rest.isEmpty ? 0 : Self.reportsProgressBit
        if version == Self.versionWithPhases {
            guard let byte = rest.popFirst(), byte & ~(Self.reportsProgressBit | Self.argumentsBit) == 0
            else {
                return nil
            }
            parts = byte
        }
        var (reached, gap) = ([Double](), 0.0)
        if parts & Self.reportsProgressBit != 0 {
            guard let seconds = rest.takeSeconds(), seconds >= 0 else { return nil }
            (reached, gap) = ([0], seconds)
            while reached.count < RunTrace.steps {
                guard let share = rest.takeInteger(UInt16.self) else { return nil }
                reached.append(max(reached[reached.count - 1], total * Double(share) / Double(UInt16.max)))
            }
            reached.append(total)
        }
        var mark: UInt32?
        if parts & Self.argumentsBit != 0 {
            mark = rest.takeInteger(UInt32.self)
            if mark == nil { return nil }
        }
        var phases: [PhaseTime] = []
        while !rest.isEmpty, phases.count < PhaseClock.limit {
            guard version == Self.versionWithPhases, let phase = rest.takePhase() else { return nil }
            phases.append(phase)
        }
        guard rest.isEmpty else { return nil }
        self.init(reached: reached, total: total, largestGap: gap, phases: phases)
        arguments = mark
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The next number; `nil` when too few bytes are left.
    fileprivate mutating func takeInteger<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard count >= size else { return nil }
        defer { removeFirst(size) }
        return prefix(size).reduce(0) { $0 << 8 | Number($1) }
    }

    /// The next number of seconds; `nil` when it is none.
    fileprivate mutating func takeSeconds() -> Double? {
        takeInteger(UInt32.self).map { Double(Float(bitPattern: $0)) }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// The next phase; `nil` when it is none.
    fileprivate mutating func takePhase() -> PhaseTime? {
        guard let start = takeSeconds(), let seconds = takeSeconds(), start >= 0, seconds >= 0,
            let length = popFirst(), count >= Int(length)
        else { return nil }
        defer { removeFirst(Int(length)) }
        return PhaseTime(
            name: String(decoding: prefix(Int(length)), as: UTF8.self), start: start, seconds: seconds)
    }
}

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
    /// With fewer runs than this a trend can't be distinguished from chance.
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
