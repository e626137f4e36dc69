extension CronParser {
    /// The masks of a text that is five plain fields and nothing else, and whether it follows the clock; `nil` for any
    /// other text.
    ///
    /// In the day fields `L`, `5L` and `5#3` are plain, too, where they stand alone. Most texts are of this kind, and no
    /// parser has to be made for them.
    @inline(__always)
    static func plainFields(
        _ bytes: Span<UInt8>, _ dayRule: CronOptions.DayRule
    ) -> (masks: CronMasks, followsClock: Bool)? {
        let end = bytes.count
        guard end <= longest else { return nil }
        var position = 0
        guard let minute = plainField(bytes, &position, end, low: 0, high: 59),
            let hour = plainField(bytes, &position, end, low: 0, high: 23),
            let (monthDay, lastDays) = plainMonthDay(bytes, &position, end),
            let month = plainField(bytes, &position, end, low: 1, high: 12),
            let (weekday, nth, last) = plainWeekday(bytes, &position, end)
        else { return nil }
        while position < end, bytes[position] == 0x20 || bytes[position] == 0x09 { position &+= 1 }
        guard position == end else { return nil }
        var masks = CronMasks()
        masks.minutes = minute.bits
        masks.hours = hour.bits
        masks.monthDays = monthDay.bits
        masks.lastDays = lastDays
        masks.months = month.bits
        masks.nthWeekdays = weekday.bits &* CronMasks.everyWeek | nth
        masks.lastWeekdays = last
        masks.eitherDay = !(monthDay.isOpen(dayRule) || weekday.isOpen(dayRule))
        masks.normalise()
        return (masks, minute.flags.contains(.starred) || hour.flags.contains(.starred))
    }

    /// A plain day of the month, or `L` and a blank.
    @inline(__always)
    private static func plainMonthDay(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> (Field, lastDays: UInt64)? {
        if let field = plainField(bytes, &position, end, low: 1, high: 31) { return (field, 0) }
        guard position &+ 1 < end, bytes[position] == UInt8(ascii: "L"),
            bytes[position &+ 1] == 0x20 || bytes[position &+ 1] == 0x09
        else { return nil }
        position &+= 1
        return (Field(), 1)
    }

    /// A plain day of the week, or `5#3` or `5L`.
    @inline(__always)
    private static func plainWeekday(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> (Field, nth: UInt64, last: UInt64)? {
        if let field = plainField(bytes, &position, end, low: 0, high: 6, sunday: true) {
            return (field, 0, 0)
        }
        guard position &+ 1 < end, bytes[position] &- 0x30 < 8 else { return nil }
        let day = UInt64(bytes[position] &- 0x30) % 7
        if bytes[position &+ 1] == UInt8(ascii: "L") {
            position &+= 2
            return (Field(), 0, 1 &<< day)
        }
        guard bytes[position &+ 1] == UInt8(ascii: "#"), position &+ 2 < end else { return nil }
        let week = bytes[position &+ 2] &- 0x31
        guard week < 5 else { return nil }
        position &+= 3
        return (Field(), 1 &<< (UInt64(week) &* 7 &+ day), 0)
    }

    /// The plain field after the blanks at `position`.
    @inline(__always)
    private static func plainField(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int, low: Int, high: Int, sunday: Bool = false
    ) -> Field? {
        while position < end, bytes[position] == 0x20 || bytes[position] == 0x09 { position &+= 1 }
        let start = position
        guard
            let (bits, next) = plainBits(bytes, start, end, low: low, high: high, sunday: sunday)
        else { return nil }
        position = next
        guard bytes[start] == 0x2A else { return Field(bits: bits) }
        return Field(bits: bits, flags: next == start &+ 1 ? [.starred, .bare] : .starred)
    }

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
