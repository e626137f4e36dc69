extension CronParser {
    /// The bits of a field that holds nothing but stars, numbers, ranges and steps within its limits, and the
    /// position after it; `nil` for anything else, faults included, which then is read with all care.
    ///
    /// Nearly all fields are of this kind. Reading them without looking for names, forms and faults makes
    /// parsing twice as fast; what it accepts it reads as `parseTerms` does, and a test compares the two.
    @inline(__always)
    static func plainBits(
        _ bytes: Span<UInt8>, _ start: Int, _ end: Int, low minimum: Int, high maximum: Int, sunday: Bool
    ) -> (bits: UInt64, position: Int)? {
        var position = start
        var bits: UInt64 = 0
        let highest = sunday ? 7 : maximum
        while true {
            var low = minimum
            var high = maximum
            var hasRange = true
            if position < end, bytes[position] == 0x2A {
                position &+= 1
            } else {
                guard let first = plainNumber(bytes, &position, end) else { return nil }
                low = first
                high = first
                hasRange = false
                if position < end, bytes[position] == 0x2D {
                    position &+= 1
                    guard let last = plainNumber(bytes, &position, end) else { return nil }
                    high = last
                    hasRange = true
                }
            }
            guard low >= minimum, low <= high, high <= highest else { return nil }
            if position < end, bytes[position] == 0x2F {
                position &+= 1
                guard hasRange, let step = plainNumber(bytes, &position, end), step > 0 else { return nil }
                var value = low
                while value <= high {
                    bits |= 1 &<< UInt64(truncatingIfNeeded: value)
                    value &+= step
                }
            } else {
                bits |= CronParser.bits(low, high)
            }
            guard position < end else { break }
            let next = bytes[position]
            if next == 0x2C {
                position &+= 1
            } else if next == 0x20 || next == 0x09 {
                break
            } else {
                return nil
            }
        }
        if sunday { bits = (bits | bits &>> 7) & 0x7F }
        return (bits, position)
    }

    /// One or two digits.
    @inline(__always)
    private static func plainNumber(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) -> Int? {
        guard position < end else { return nil }
        let first = bytes[position] &- 0x30
        guard first < 10 else { return nil }
        position &+= 1
        guard position < end else { return Int(first) }
        let second = bytes[position] &- 0x30
        guard second < 10 else { return Int(first) }
        position &+= 1
        return Int(first) &* 10 &+ Int(second)
    }

    /// The bits from `low` through `high`.
    @inline(__always)
    static func bits(_ low: Int, _ high: Int) -> UInt64 {
        (.max &>> UInt64(truncatingIfNeeded: 63 &- (high &- low))) &<< UInt64(truncatingIfNeeded: low)
    }
}
