import Timeline

extension PhraseReader {
    /// `on ...`: days, or minutes of the hour.
    mutating func on() throws(CronError) {
        let start = position
        position += 1
        if skip("the", "hour") {
            guard meaning.minuteMarks == 0 else {
                throw fault(at: range(from: start), "the minutes are said twice")
            }
            meaning.minuteMarks = 1
            return
        }
        if skip("demand") { return try event(.manual, words: 0) }
        if word == "boot" || word == "startup" || word == "reboot" { return try event(.startup, words: 1) }
        if word == "every" { return try every() }
        if word == "today" || word == "tomorrow" || word == "next" { return }
        try days()
    }

    /// `in ...`: a while from now, or months.
    mutating func inside() throws(CronError) {
        position += 1
        if PhraseWords.month(word) != nil { return try months() }
        if let duration = duration() { return try once(.later(duration), words: 0) }
        if let unit = PhraseWords.unit(word(1)), PhraseWords.number(word) != nil, unit.seconds == nil {
            throw fault(
                kind: .notExpressible, "a \(unit.name) has no fixed length",
                fix: "name the date, such as 2027-01-31")
        }
        throw lost("a while such as 20 minutes, or a month")
    }

    /// `except sunday`, `except on saturdays and sundays`.
    mutating func exceptions() throws(CronError) {
        let start = position
        position += 1
        _ = skip(any: "on", "for")
        var inner = self
        inner.meaning = PhraseMeaning()
        guard meaning.exceptions == nil, try inner.weekdays() else { throw lost("days of the week") }
        position = inner.position
        meaning.exceptions = (inner.meaning.weekdays, range(from: start))
    }

    /// Takes the excepted days out of those that were named, or out of the week.
    mutating func settleExceptions() throws(CronError) {
        guard let exceptions = meaning.exceptions else { return }
        let isGrid = meaning.interval.map { $0.unit.isLong && ($0.unit != .day || $0.count > 1) } ?? false
        guard !isGrid, meaning.interval != nil || meaning.weekdays != 0, meaning.once == nil,
            meaning.event == nil, !meaning.hasMonthDays, meaning.weekdayForms.isEmpty
        else {
            throw fault(at: 0..<phrase.utf8.count, "\"except\" is understood beside days of the week only")
        }
        let rest = (meaning.weekdays == 0 ? 0x7F : meaning.weekdays) & ~exceptions.weekdays
        guard rest != 0 else { throw fault(at: 0..<phrase.utf8.count, "no day is left") }
        meaning.weekdays = rest
        if meaning.interval?.unit == .day { meaning.interval = nil }
    }

    /// `OR on friday`, `AND only when that is a friday`, `if it is a friday`, `and the last day`.
    mutating func join() throws(CronError) {
        let start = position
        let had = (meaning.hasMonthDays, meaning.hasWeekdays)
        guard had.0 != had.1, meaning.join == nil else { throw lost() }
        let isOr = word == "or"
        _ = skip(any: "or", "and", "but")
        _ = skip("only")
        let isCondition = skip(any: "when", "if")
        if isCondition {
            guard skip(any: "that", "it"), skip("is") else { throw lost("it is a Friday") }
            _ = skip(any: "a", "an")
        } else {
            _ = skip("on")
        }
        try days(isMore: true)
        let isMixed = had.0 != meaning.hasMonthDays || had.1 != meaning.hasWeekdays
        switch (isMixed, isCondition, isOr) {
        case (true, true, _): meaning.join = .and
        case (true, false, true): meaning.join = .or
        case (false, false, _): break
        case (true, false, false):
            throw fault(
                at: tokens[start].range, "how these days combine is not said",
                fix: "say OR, or say AND only when that is a Friday")
        case (false, true, _):
            throw fault(
                at: range(from: start), "a day of the month and a day of the week are needed here")
        }
    }

    /// Days of the week or of the month, a date, or months; a second list of one kind only if it `isMore`.
    mutating func days(isEvery: Bool = false, isMore: Bool = false) throws(CronError) {
        let start = position
        let before = meaning
        try oneOfDays(isEvery)
        let isAgain =
            before.hasMonthDays
            && (meaning.monthDays, meaning.monthDayForms) != (before.monthDays, before.monthDayForms)
            || before.hasWeekdays
                && (meaning.weekdays, meaning.weekdayForms) != (before.weekdays, before.weekdayForms)
        guard isMore || !isAgain else { throw fault(at: range(from: start), "the days are said twice") }
    }

    private mutating func oneOfDays(_ isEvery: Bool) throws(CronError) {
        let start = position
        if try weekdays() {
            guard word == "the", let day = PhraseWords.ordinal(word(1)) else { return }
            // "friday the 13th": both.
            guard day <= 31, meaning.join == nil, !meaning.hasMonthDays else { throw lost() }
            position += 2
            meaning.monthDays = 1 << UInt64(day)
            meaning.join = .and
            monthSuffix()
            if !isEvery, PhraseWords.month(word) != nil {
                meaning.bareDate = range(from: start).lowerBound..<range.upperBound
            }
            return
        }
        if let date = isoDate() { return try once(.date(date), words: 1) }
        if try isoTime() { return }
        if PhraseWords.month(word) != nil {
            guard let day = PhraseWords.ordinal(word(1)) ?? PhraseWords.number(word(1)), isDay(day) else {
                guard meaning.hasWeekdays || meaning.hasMonthDays || meaning.interval != nil else {
                    throw fault(
                        "which days of \(CronNames.months[(PhraseWords.month(word) ?? 1) - 1]) is not said",
                        fix: "say every day in \(word)")
                }
                return try months()
            }
            return try yearDay(month: word, day: day, words: 2, isEvery, from: start)
        }
        _ = skip("the")
        if PhraseWords.isWeekend(word) { return _ = try weekdays() }
        if word == "last" || word.hasPrefix("last") { return try lastDays() }
        if skip("day", "before", "the", "last", "day") { return lastDay(before: 1) }
        if word == "day" || word == "days", PhraseWords.number(word(1)) != nil {
            position += 1
            return try monthDays(try numbers(upTo: 31, "a day of the month"), from: start)
        }
        if skip("working", "day", "nearest", "to") || skip("weekday", "nearest", "to") {
            return try nearest()
        }
        if let day = PhraseWords.number(word), isDay(day), PhraseWords.month(word(1)) != nil {
            return try yearDay(month: word(1), day: day, words: 2, isEvery, from: start)
        }
        guard let first = PhraseWords.ordinal(word) else { throw lost() }
        if skip(word, "day", "before", "the", "last", "day") { return lastDay(before: first) }
        if word(1) == "of", PhraseWords.month(word(2)) != nil, isDay(first) {
            return try yearDay(month: word(2), day: first, words: 3, isEvery, from: start)
        }
        if PhraseWords.month(word(1)) != nil, isDay(first) {
            return try yearDay(month: word(1), day: first, words: 2, isEvery, from: start)
        }
        try ordinals(from: start)
    }

    func isDay(_ day: Int) -> Bool { (1...31).contains(day) }
}
