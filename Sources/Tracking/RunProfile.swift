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

    /// A profile as it was stored: `reached` is empty, or 65 rising values from 0 to `total`.
    init(reached: [Double], total: Double, largestGap: Double) {
        self.reached = reached
        self.total = total
        self.largestGap = largestGap
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

/// The stored form of a profile: 5 bytes for a run without progress, 135 for one with it.
///
/// A version, the total and the longest silence as 32-bit floating point numbers, then the inner steps as shares of the
/// total in 16 bits, the most significant byte first: a step of a ten-hour run is off by half a second at most.
extension RunProfile {
    /// The only form so far; one that is not known is read as no profile.
    private static let version: UInt8 = 1
    private static let headBytes = 5
    private static let wholeBytes = headBytes + 4 + (RunTrace.steps - 1) * 2

    /// The profile as it is stored with its run.
    public var bytes: [UInt8] {
        var bytes = [Self.version]
        bytes.reserveCapacity(tellsProgress ? Self.wholeBytes : Self.headBytes)
        bytes.append(bigEndian: Float(total).bitPattern)
        guard tellsProgress else { return bytes }
        bytes.append(bigEndian: Float(largestGap).bitPattern)
        for seconds in reached[1..<RunTrace.steps] {
            let share = min(max(seconds / total, 0), 1)
            bytes.append(bigEndian: UInt16((share * Double(UInt16.max)).rounded()))
        }
        return bytes
    }

    /// The profile that was stored as `bytes`.
    ///
    /// - Returns: `nil` when they are none, or of a later Belfry.
    public init?(bytes: [UInt8]) {
        guard bytes.first == Self.version else { return nil }
        var rest = bytes.dropFirst()
        guard let total = rest.takeSeconds(), total > 0 else { return nil }
        guard !rest.isEmpty else {
            self.init(total: total)
            return
        }
        guard bytes.count == Self.wholeBytes, let gap = rest.takeSeconds(), gap >= 0 else { return nil }
        var reached = [0.0]
        while let share = rest.takeInteger(UInt16.self) {
            reached.append(max(reached[reached.count - 1], total * Double(share) / Double(UInt16.max)))
        }
        self.init(reached: reached + [total], total: total, largestGap: gap)
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
}
