extension CronParser {
    /// Reads what may follow a value in a day field (`15W`, `5#2`, `5L`, `5#L`), and says whether it did.
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
}
