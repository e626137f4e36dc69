extension CronParser {
    /// One field as read, before the day fields are combined; two words, so that it is returned in registers.
    struct Field {
        /// The plain values, bit v for value v.
        var bits: UInt64 = 0
        var flags: Flags = []

        func isOpen(_ rule: CronOptions.DayRule) -> Bool {
            flags.contains(rule == .vixie ? .starred : .bare)
        }
    }

    struct Flags: OptionSet {
        var rawValue: UInt64

        /// The first character is a star or a question mark.
        static let starred = Flags(rawValue: 1)
        /// The field is nothing but that.
        static let bare = Flags(rawValue: 2)
        static let question = Flags(rawValue: 4)
        /// A `+` stands first.
        static let forced = Flags(rawValue: 8)
    }

    /// Where a term reads its values from; `low` to `high` by `step`.
    struct Term {
        var low: Int
        var high: Int
        var step = 1
        var hasRange = false
        /// `low` lies above `high`, allowed because the dialect wraps.
        var isWrapped = false
    }

    /// Reads the field at `position` and the blanks after it.
    @inline(__always)
    mutating func parseField(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Field {
        var flags: Flags = []
        if field == .dayOfWeek, bytes[position] == UInt8(ascii: "+"), position + 1 < end,
            !isBlank(bytes[position + 1])
        {
            flags.insert(.forced)
            position += 1
        }
        let start = position
        let first = bytes[position]
        if first == UInt8(ascii: "*") { flags.insert(.starred) }
        if first == UInt8(ascii: "?") { flags.formUnion([.starred, .question]) }
        let bits: UInt64
        if field != .year, !collectsWarnings, dialect == .unix || field != .dayOfWeek,
            let plain = CronParser.plainBits(
                bytes, position, end, low: field.minimum, high: field.maximum, sunday: field == .dayOfWeek)
        {
            bits = plain.bits
            position = plain.position
        } else {
            if field == .year { masks.years = .empty }
            bits = parseTerms(field, bytes, &position, end)
        }
        if flags.contains(.starred), position == start + 1 { flags.insert(.bare) }
        position = skipBlanks(bytes, position, end)
        return Field(bits: bits, flags: flags)
    }

    @inline(never)
    private mutating func parseTerms(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> UInt64 {
        let start = position
        var bits: UInt64 = 0
        var terms = 0
        while true {
            terms += 1
            let termStart = position
            if position == end || isBlank(bytes[position]) || bytes[position] == UInt8(ascii: ",") {
                failEmptyTerm(field, bytes, position, end)
            } else if let term = parseTerm(field, bytes, &position, end) {
                if field == .year { addYears(term) } else { bits |= CronParser.bits(term, in: field) }
            }
            if position < end, !isBlank(bytes[position]), bytes[position] != UInt8(ascii: ",") {
                if !hasFault(from: termStart) { failUnexpected(field, bytes, position, end) }
                while position < end, !isBlank(bytes[position]), bytes[position] != UInt8(ascii: ",") {
                    position += 1
                }
            }
            guard position < end, bytes[position] == UInt8(ascii: ",") else { break }
            position += 1
        }
        if terms > 1 { checkAlone(field, bytes, start..<position) }
        return bits
    }

    /// Reads one term; `nil` when it is one of the day forms, which go into the masks, or at fault.
    private mutating func parseTerm(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Term? {
        let start = position
        var term: Term
        switch bytes[position] {
        case UInt8(ascii: "*"):
            position += 1
            term = Term(low: field.minimum, high: field.maximum, hasRange: true)
        case UInt8(ascii: "?") where isLenient || field == .dayOfMonth || field == .dayOfWeek:
            position += 1
            return Term(low: field.minimum, high: field.maximum)
        case UInt8(ascii: "H"):
            return parseHash(field, bytes, &position, end)
        case UInt8(ascii: "L") where field == .dayOfMonth,
            UInt8(ascii: "l") where field == .dayOfMonth && isLenient:
            parseLastDay(bytes, &position, end)
            return nil
        case UInt8(ascii: "L") where field == .dayOfWeek && dialect == .quartz:
            position += 1
            return Term(low: 6, high: 6)
        default:
            guard let low = parseValue(field, bytes, &position, end) else { return nil }
            term = Term(low: low, high: low)
            if position < end, bytes[position] == UInt8(ascii: "-") {
                position += 1
                guard let high = parseUpperValue(field, low, bytes, &position, end) else { return nil }
                term.high = high
                term.hasRange = true
            } else if position < end, parseDayForm(field, low, bytes, &position, end) {
                return nil
            }
        }
        if position < end, bytes[position] == UInt8(ascii: "/") {
            guard parseStep(field, &term, bytes, &position, end, from: start) else { return nil }
        }
        return order(&term, field, start..<position) ? term : nil
    }

    /// Settles a range that runs backwards; returns whether it may stay.
    private mutating func order(_ term: inout Term, _ field: CronField, _ range: Range<Int>) -> Bool {
        if field == .dayOfWeek, term.low == 7, term.high < 7 { term.low = 0 }
        guard term.low > term.high else { return true }
        if isLenient, field != .year {
            term.isWrapped = true
            return true
        }
        if field == .dayOfWeek, term.high == 0 {
            fail(
                .reversedRange, in: field, at: range, "the range runs backwards",
                fix: "write \(term.low)-7, where 7 is Sunday")
        } else {
            fail(
                .reversedRange, in: field, at: range, "\(term.low) lies after \(term.high)",
                fix: field == .year
                    ? "write \(term.high)-\(term.low)"
                    : "write \(term.low)-\(field.maximum),\(field.minimum)-\(term.high)")
        }
        return false
    }

    /// Reads `/s`; returns whether the term stands.
    mutating func parseStep(
        _ field: CronField, _ term: inout Term, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int,
        from start: Int
    ) -> Bool {
        let slash = position
        position += 1
        let numberStart = position
        guard let step = parseNumber(field, bytes, &position, end) else {
            if !hasFault(from: numberStart) {
                fail(
                    .badStep, in: field, at: slash..<position, "a step needs a number after the /",
                    fix: "write one from 1 up")
            }
            return false
        }
        guard step > 0 else {
            fail(
                .badStep, in: field, at: numberStart..<position, "a step of 0 never moves",
                fix: "write one from 1 up")
            return false
        }
        if !term.hasRange {
            guard isLenient else {
                fail(
                    .badStep, in: field, at: start..<position, "a step needs a range before it",
                    fix: "write \(term.low)-\(field.maximum)/\(step)")
                return false
            }
            if term.low == 7, field == .dayOfWeek { term.low = 0 }
            term.high = field.maximum
        }
        term.step = step
        if collectsWarnings { warnOfStep(term, field, start..<position) }
        return true
    }

    private mutating func addYears(_ term: Term) {
        if term.low == YearSet.first, term.high == YearSet.last, term.step == 1 {
            masks.years = .all
        } else {
            for year in stride(from: term.low, through: term.high, by: term.step) { masks.years.insert(year) }
        }
    }

    /// The values of a term, a day of week 7 as 0.
    @inline(__always)
    static func bits(_ term: Term) -> UInt64 { bits(term.low, term.high) }

    private static func bits(_ term: Term, in field: CronField) -> UInt64 {
        var bits: UInt64
        if term.isWrapped {
            let width = field.width
            bits = 0
            for value in stride(from: term.low, through: term.high + width, by: term.step) {
                bits |= 1 << UInt64(value > field.maximum ? value - width : value)
            }
        } else if term.step == 1 {
            bits = CronParser.bits(term)
        } else {
            bits = 0
            var value = term.low
            while value <= term.high {
                bits |= 1 &<< UInt64(truncatingIfNeeded: value)
                value &+= term.step
            }
        }
        if field == .dayOfWeek, bits & 0x80 != 0 { bits = (bits | 1) & 0x7F }
        return bits
    }

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
            guard
                let term = plainTerm(
                    bytes, &position, end, low: minimum, high: maximum, highest: highest)
            else { return nil }
            bits |= term
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

    /// The bits of one star, number, range or step, up to the comma or blank after it.
    @inline(__always)
    private static func plainTerm(
        _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int, low minimum: Int, high maximum: Int,
        highest: Int
    ) -> UInt64? {
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
        guard position < end, bytes[position] == 0x2F else { return CronParser.bits(low, high) }
        position &+= 1
        guard hasRange, let step = plainNumber(bytes, &position, end), step > 0 else { return nil }
        var bits: UInt64 = 0
        var value = low
        while value <= high {
            bits |= 1 &<< UInt64(truncatingIfNeeded: value)
            value &+= step
        }
        return bits
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
