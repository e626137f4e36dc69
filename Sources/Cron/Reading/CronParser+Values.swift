extension CronParser {
    /// Reads digits, at most four; `nil` without consuming anything when there are none.
    @inline(__always)
    mutating func parseNumber(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Int? {
        let start = position
        var value = 0
        while position < end, bytes[position] &- 0x30 < 10 {
            if position - start < 5 { value = value &* 10 &+ Int(bytes[position] &- 0x30) }
            position += 1
        }
        guard position > start else { return nil }
        guard position - start <= 4 else {
            fail(.outOfRange, in: field, at: start..<position, "a number has at most four digits")
            return nil
        }
        return value
    }

    /// Reads a number or a name and checks its limits.
    mutating func parseValue(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Int? {
        let start = position
        if let number = parseNumber(field, bytes, &position, end) {
            let isSunday = field == .dayOfWeek && number == 7 && dialect == .unix
            let value = field == .dayOfWeek && dialect == .quartz ? number - 1 : number
            if value >= field.minimum, value <= field.maximum || isSunday {
                if isSunday { warn(.sunday7, in: field, at: start..<position, "7 is Sunday here, as 0 is") }
                return value
            }
            let limits =
                field != .dayOfWeek
                ? "\(field.minimum)-\(field.maximum)" : dialect == .quartz ? "1-7" : "0-7"
            let isNext = number == field.maximum + 1 && field.minimum == 0 && field != .dayOfWeek
            fail(
                .outOfRange, in: field, at: start..<position, "\(number) is outside \(limits)",
                fix: isNext ? "the \(field.title) after \(field.maximum) is 0" : nil)
            return nil
        }
        guard !hasFault(from: start) else { return nil }
        guard position < end else {
            fail(
                .unexpected, in: field, at: position..<position, "the text ends where a value is expected",
                fix: "write a number or *")
            return nil
        }
        if isLetter(bytes[position]), field == .month || field == .dayOfWeek {
            return parseName(field, bytes, &position, end)
        }
        failUnexpected(field, bytes, position, end)
        return nil
    }

    /// Reads the value after a `-`, where Sunday counts as 7.
    mutating func parseUpperValue(
        _ field: CronField, _ low: Int, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Int? {
        guard position < end, !isBlank(bytes[position]), bytes[position] != UInt8(ascii: ",") else {
            fail(
                .unexpected, in: field, at: (position - 1)..<position, "the range has no end",
                fix: field == .year ? "write the last year after it" : "write \(low)-\(field.maximum)")
            return nil
        }
        let isName = isLetter(bytes[position])
        guard let high = parseValue(field, bytes, &position, end) else { return nil }
        guard field == .dayOfWeek, high == 0 else { return high }
        // `SUN-SUN` is one day, and so is `0-0`.
        if isName, low == 0, dialect == .unix { return 0 }
        return isName || isLenient && low > 0 ? 7 : 0
    }

    private mutating func parseName(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Int? {
        let start = position
        var letters = position
        while letters < end, isLetter(bytes[letters]) { letters += 1 }
        if letters - start >= 3 {
            let code = CronNames.pack(bytes[start], bytes[start + 1], bytes[start + 2])
            let value = field == .month ? CronNames.month(code) : CronNames.weekday(code)
            // `MONL` is the last Monday.
            let hasLast =
                letters - start == 4 && field == .dayOfWeek
                && (bytes[start + 3] == UInt8(ascii: "L")
                    || isLenient && bytes[start + 3] == UInt8(ascii: "l"))
            if let value, letters - start == 3 || hasLast {
                position = start + 3
                return value
            }
            if let value, isLenient, isFullName(field, value, bytes, start..<letters) {
                position = letters
                return value
            }
        }
        position = letters
        failName(field, bytes, start..<letters)
        return nil
    }

    private func isFullName(_ field: CronField, _ value: Int, _ bytes: Span<UInt8>, _ range: Range<Int>)
        -> Bool
    {
        let name = field == .month ? CronNames.months[value - 1] : CronNames.weekdays[value]
        return text(bytes, range).lowercased() == name.lowercased()
    }

    private mutating func failName(_ field: CronField, _ bytes: Span<UInt8>, _ range: Range<Int>) {
        let word = text(bytes, range)
        let names = field == .month ? CronNames.months : CronNames.weekdays
        let near = names.first { $0.lowercased().hasPrefix(word.lowercased().prefix(3)) }
        let what = field == .month ? "month" : "day of week"
        fail(
            .unknownName, in: field, at: range, "\"\(word)\" is not a \(what)",
            fix: word == "L" && field == .dayOfWeek
                ? "write the day before it: 5L is the last Friday"
                : near.map { "write \($0.prefix(3).uppercased())" }
                    ?? "use three letters such as \(names[1].prefix(3).uppercased())")
    }

    // MARK: Findings

    func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    /// Whether something at or after `position` was already found wrong.
    func hasFault(from position: Int) -> Bool {
        guard let last = faults.last else { return false }
        return last.range.upperBound > position || last.range.lowerBound >= position
    }

    mutating func failEmptyTerm(_ field: CronField, _ bytes: Span<UInt8>, _ position: Int, _ end: Int) {
        let isBefore = position < end && bytes[position] == UInt8(ascii: ",")
        let comma = isBefore ? position : position - 1
        fail(
            .emptyTerm, in: field, at: comma..<comma + 1,
            "a value is missing \(isBefore ? "before" : "after") the comma",
            fix: "write one, or remove the comma")
    }

    /// Points at a character that only looks like a blank, such as a no-break space; returns whether there is one.
    mutating func failOddBlank(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        for place in start..<end where bytes[place] >= 0x7F || bytes[place] < 0x20 && !isBlank(bytes[place]) {
            var next = place + 1
            while next < end, bytes[next] & 0xC0 == 0x80 { next += 1 }
            fail(
                .unexpected, at: place..<next, "this character does not separate fields",
                fix: "write a space in its place")
            return true
        }
        return false
    }

    mutating func failUnexpected(_ field: CronField, _ bytes: Span<UInt8>, _ position: Int, _ end: Int) {
        var next = position + 1
        // The whole of one character, however many bytes it has.
        while next < end, bytes[next] & 0xC0 == 0x80 { next += 1 }
        let word = text(bytes, position..<next)
        let shown = bytes[position] < 0x20 || bytes[position] == 0x7F ? "a control character" : "\"\(word)\""
        var fix: String?
        switch bytes[position] {
        case UInt8(ascii: "L"), UInt8(ascii: "W"), UInt8(ascii: "#"), UInt8(ascii: "?"):
            fix = Self.place(of: bytes[position], in: field)
        case UInt8(ascii: "/"):
            fix = "write */ or a range before it"
        case 0x30...0x39 where position > 0 && bytes[position - 1] == UInt8(ascii: "L"):
            fix = "put a - between: L-2 is the 2nd day before the last"
        default:
            fix = "write numbers, * or ranges such as \(field.minimum)-\(field.maximum)"
        }
        fail(.unexpected, in: field, at: position..<next, "\(shown) cannot stand here", fix: fix)
    }

    /// Where a sign of the day fields may stand, for one that stands elsewhere.
    private static func place(of sign: UInt8, in field: CronField) -> String {
        switch (sign, field) {
        case (UInt8(ascii: "#"), .dayOfWeek):
            "# follows one weekday: 1#2 is the second Monday of a month"
        case (UInt8(ascii: "#"), _): "it belongs in the day of week"
        case (UInt8(ascii: "W"), .dayOfMonth): "W follows one day: 15W is the working day nearest to the 15th"
        case (UInt8(ascii: "W"), _): "it belongs in the day of month"
        case (UInt8(ascii: "L"), .dayOfWeek): "L follows one weekday: 5L is the last Friday of a month"
        case (UInt8(ascii: "L"), .dayOfMonth): "L is the last day of a month, L-2 the 2nd day before it"
        case (UInt8(ascii: "?"), .dayOfMonth), (UInt8(ascii: "?"), .dayOfWeek):
            "? stands alone in its field; write *"
        default: "it belongs in a day field"
        }
    }

    /// Reads what may follow a value in a day field (`15W`, `5#2`, `5L`, `5#L`), and returns whether it did.
    mutating func parseDayForm(
        _ field: CronField, _ value: Int, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Bool {
        // Lower-case forms are for lenient reading.
        let form = isLenient && isLetter(bytes[position]) ? bytes[position] & ~0x20 : bytes[position]
        switch (field, form) {
        case (.dayOfMonth, UInt8(ascii: "W")):
            position += 1
            masks.nearestDays |= 1 << UInt64(value)
            return true
        case (.dayOfWeek, UInt8(ascii: "L")):
            position += 1
            masks.lastWeekdays |= 1 << UInt64(value % 7)
            return true
        case (.dayOfWeek, UInt8(ascii: "#")):
            parseNth(value % 7, bytes, &position, end)
            return true
        default:
            return false
        }
    }

    private mutating func parseNth(_ weekday: Int, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) {
        let start = position
        position += 1
        if position < end, bytes[position] == UInt8(ascii: "L") {
            position += 1
            masks.lastWeekdays |= 1 << UInt64(weekday)
            return
        }
        let numberStart = position
        guard let number = parseNumber(.dayOfWeek, bytes, &position, end) else {
            if !hasFault(from: numberStart) {
                fail(
                    .unexpected, in: .dayOfWeek, at: start..<start + 1,
                    "a number from 1 to 5 belongs after the #",
                    fix: "write \(weekday)#1 for the first of a month")
            }
            return
        }
        guard (1...5).contains(number), position - numberStart == 1 else {
            fail(
                .outOfRange, in: .dayOfWeek, at: numberStart..<position,
                "a month has the 1st to the 5th of a weekday",
                fix: "write a number from 1 to 5, or L for the last")
            return
        }
        masks.nthWeekdays |= 1 << UInt64((number - 1) * 7 + weekday)
    }

    /// Reads `L`, `L-3`, `LW` and `L-3W`.
    mutating func parseLastDay(_ bytes: Span<UInt8>, _ position: inout Int, _ end: Int) {
        position += 1
        var before = 0
        if position < end, bytes[position] == UInt8(ascii: "-") {
            position += 1
            let start = position
            guard let number = parseNumber(.dayOfMonth, bytes, &position, end) else {
                if !hasFault(from: start) {
                    fail(
                        .unexpected, in: .dayOfMonth, at: start - 1..<start,
                        "a number from 0 to 30 belongs after L-",
                        fix: "write L-1 for the day before the last")
                }
                return
            }
            guard number <= 30 else {
                return fail(.outOfRange, in: .dayOfMonth, at: start..<position, "\(number) is outside 0-30")
            }
            before = number
        }
        if position < end,
            bytes[position] == UInt8(ascii: "W") || isLenient && bytes[position] == UInt8(ascii: "w")
        {
            position += 1
            masks.nearestLastDays |= 1 << UInt64(before)
        } else {
            masks.lastDays |= 1 << UInt64(before)
        }
    }

    /// Outside lenient reading a nearest weekday stands alone in its field.
    mutating func checkAlone(_ field: CronField, _ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard field == .dayOfMonth, !isLenient, masks.nearestDays | masks.nearestLastDays != 0 else { return }
        for place in range where bytes[place] == UInt8(ascii: "W") {
            return fail(
                .misplaced, in: field, at: place..<place + 1, "a W form stands alone in its field",
                fix: "read the text leniently, or use two schedules")
        }
    }

    /// Reads `H`, `H/s`, `H(a-b)` and `H(a-b)/s`: values that the seed chooses, for ever the same.
    mutating func parseHash(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Term? {
        let start = position
        position += 1
        guard let (low, high) = parseHashRange(field, bytes, &position, end, from: start) else { return nil }
        var step: Int?
        if position < end, bytes[position] == UInt8(ascii: "/") {
            var term = Term(low: low, high: high, hasRange: true)
            guard parseStep(field, &term, bytes, &position, end, from: start) else { return nil }
            step = term.step
        }
        guard field != .year else {
            fail(
                .misplaced, in: field, at: start..<position, "a year cannot be chosen by H",
                fix: "write the year or *")
            return nil
        }
        guard let seed else {
            fail(
                .seedMissing, in: field, at: start..<position, "H needs a seed",
                fix: "give the name that it is derived from: --seed NAME")
            return nil
        }
        let hash = CronParser.hash(seed, field)
        let width = UInt64(high - low + 1)
        guard let step, step < Int(width) else {
            let value = low + Int(hash % width)
            return Term(low: value, high: value)
        }
        return Term(low: low + Int(hash % UInt64(step)), high: high, step: step, hasRange: true)
    }

    /// The `(a-b)` of an `H`, or else all values that the seed may choose from.
    private mutating func parseHashRange(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int, from start: Int
    ) -> (low: Int, high: Int)? {
        guard position < end, bytes[position] == UInt8(ascii: "(") else {
            // Days that every month has.
            return (field.minimum, field == .dayOfMonth ? 28 : field.maximum)
        }
        position += 1
        guard let first = parseValue(field, bytes, &position, end) else { return nil }
        guard position < end, bytes[position] == UInt8(ascii: "-") else {
            fail(.unexpected, in: field, at: start..<position, "H( needs a range", fix: "write H(0-9)")
            return nil
        }
        position += 1
        guard let last = parseUpperValue(field, first, bytes, &position, end) else { return nil }
        guard position < end, bytes[position] == UInt8(ascii: ")") else {
            fail(.unexpected, in: field, at: start..<position, "H( is not closed", fix: "add a )")
            return nil
        }
        position += 1
        guard first <= last else {
            fail(
                .reversedRange, in: field, at: start..<position, "\(first) lies after \(last)",
                fix: "write H(\(last)-\(first))")
            return nil
        }
        return (first, last)
    }

    /// FNV-1a, 64 bits, over the seed's UTF-8 and then the byte of the field's number, stirred by the finaliser
    /// of MurmurHash3; frozen for ever.
    ///
    /// FNV-1a alone will not do: its prime is 1 modulo 15, so that `job-1` to `job-500` would share 28 minutes.
    static func hash(_ seed: String, _ field: CronField) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in seed.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ UInt64(field.number)) &* 0x0000_0100_0000_01B3
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
