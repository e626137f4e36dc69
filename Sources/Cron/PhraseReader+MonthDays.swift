extension PhraseReader {
    /// `last day of the month`, `last working day`, `last friday of the month`.
    mutating func lastDays() throws(CronError) {
        let start = position
        position += 1
        if skip("day") {
            meaning.monthDayForms.append("L")
        } else if skip(any: "weekday", "workday") || isWorkingDay {
            meaning.monthDayForms.append("LW")
        } else if let weekday = PhraseWords.weekday(word) {
            position += 1
            meaning.weekdayForms.append("\(weekday)L")
        } else {
            throw lost("day or a day of the week")
        }
        guard monthSuffix() || meaning.months != 0 || word == "in" || isMonthly else {
            throw fault(at: range(from: start), "the last one of what is not said", fix: "add of the month")
        }
    }

    mutating func lastDay(before: Int) {
        meaning.monthDayForms.append("L-\(before)")
        monthSuffix()
    }

    mutating func nearest() throws(CronError) {
        _ = skip("the")
        if skip("last", "day") {
            meaning.monthDayForms.append("LW")
        } else if skip("day", "before", "the", "last", "day") {
            meaning.monthDayForms.append("L-1W")
        } else {
            _ = skip("day")
            guard let day = PhraseWords.ordinal(word) ?? PhraseWords.number(word), isDay(day) else {
                throw lost("a day of the month")
            }
            let isFromEnd = skip(word, "day", "before", "the", "last", "day")
            if !isFromEnd { position += 1 }
            meaning.monthDayForms.append(isFromEnd ? "L-\(day)W" : "\(day)W")
        }
        monthSuffix()
    }

    mutating func monthDays(_ days: [Int], from start: Int) throws(CronError) {
        for day in days {
            guard isDay(day) else {
                throw fault(kind: .outOfRange, at: range(from: start), "\(day) is no day of a month")
            }
            meaning.monthDays |= 1 << UInt64(day)
        }
        monthSuffix()
    }

    /// `1st and 15th of the month`, `first and third monday of the month`.
    mutating func ordinals(from start: Int) throws(CronError) {
        var values: [Int] = []
        while let value = PhraseWords.ordinal(word) {
            values.append(value)
            position += 1
            if word == "through" || word == "to" || word == "until" {
                let distance = word(1) == "the" ? 2 : 1
                guard let last = PhraseWords.ordinal(word(distance)), last > value, isDay(last) else {
                    throw lost("a list of days such as the 1st through the 5th")
                }
                values += value + 1...last
                position += distance + 1
            }
            guard word == "," || word == "and" || word == "or" else { break }
            var next = self
            next.position += word == "," && word(1) == "and" ? 2 : 1
            _ = next.skip("the")
            guard PhraseWords.ordinal(next.word) != nil else { break }
            position = next.position
        }
        if let weekday = PhraseWords.weekday(word) {
            position += 1
            for value in values {
                guard (1...5).contains(value) else {
                    throw fault(
                        kind: .outOfRange, at: range(from: start), "a month has at most five of a weekday")
                }
                meaning.weekdayForms.append("\(weekday)#\(value)")
            }
            guard monthSuffix() || word == "in" || isMonthly else {
                throw fault(at: range(from: start), "of what is not said", fix: "add of the month")
            }
            return
        }
        if isWorkingDay || skip(any: "weekday", "workday") {
            guard values == [1] else {
                throw fault(
                    kind: .notExpressible, at: range(from: start),
                    "only the first and the last working day of a month can be said")
            }
            // The working day nearest to the 1st never lies in the month before.
            meaning.monthDayForms.append("1W")
            guard monthSuffix() || word == "in" || isMonthly else {
                throw fault(at: range(from: start), "of what is not said", fix: "add of the month")
            }
            return
        }
        _ = skip("day")
        try monthDays(values, from: start)
    }

    /// Whether "every month" was said before.
    private var isMonthly: Bool { meaning.interval?.unit == .month }

    /// `of the month`, `of every month`; says whether it was there.
    @discardableResult
    mutating func monthSuffix() -> Bool {
        skip("of", "the", "month") || skip("of", "every", "month") || skip("of", "each", "month")
            || skip("in", "the", "month") || skip("of", "month") || skip("every", "month")
            || skip("each", "month")
            || word == "of" && PhraseWords.month(word(1)) != nil && skip("of")
    }
}
