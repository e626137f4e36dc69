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
