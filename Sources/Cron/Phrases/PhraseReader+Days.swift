import Timeline

extension PhraseReader {
    /// `on ...`: days, or minutes of the hour.
    mutating func on() throws(CronError) {
        let start = position
        position += 1
        if try wholeAndHalfHours(from: start) { return }
        if word == "the", word(1).hasPrefix(":") { position += 1 }
        if colonMinute != nil { return try minuteList(from: start) }
        if skip("demand") { return try event(.manual, words: 0) }
        if word == "boot" || word == "startup" || word == "reboot" { return try event(.startup(), words: 1) }
        if word == "every" { return try every() }
        if word == "today" || word == "tomorrow" || word == "next" { return }
        try days()
    }

    /// `in ...`: a while from now, months, a part of the day, or a zone.
    mutating func inside() throws(CronError) {
        position += 1
        if PhraseWords.month(word) != nil { return try months() }
        if word == "the", PhraseWords.partOfDay(word(1)) == word(1) {
            position += 1
            return try partOfDay(word)
        }
        if let duration = duration() { return try once(.later(duration), words: 0) }
        if let unit = PhraseWords.unit(word(1)), PhraseWords.number(word) != nil, unit.seconds == nil {
            throw fault(
                kind: .notExpressible, "a \(unit.name) has no fixed length",
                fix: "name the date, such as 2027-01-31")
        }
        guard word.first?.isLetter == true, !["the", "a", "an", "every", "each"].contains(word),
            PhraseWords.number(word) == nil, PhraseWords.unit(word) == nil
        else { throw lost("a while such as 20 minutes, a month, or a city") }
        try zone()
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
        guard word != "and" || !["every", "each"].contains(word(1)) else {
            throw fault(
                at: range(from: 0).upperBound..<phrase.utf8.count, "this is a second schedule",
                fix: "make one schedule for each")
        }
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
        guard isMore || !isAgain else {
            throw fault(
                at: range(from: start), "the days are said twice",
                fix: "join them with and, or make one schedule for each")
        }
    }

    private mutating func oneOfDays(_ isEvery: Bool) throws(CronError) {
        let start = position
        if try weekdays() { return try weekdayAndDay(isEvery, from: start) }
        if let date = isoDate() { return try once(.date(date), words: 1) }
        if try isoTime() { return }
        if PhraseWords.month(word) != nil { return try monthFirst(isEvery, from: start) }
        if try monthEnds(from: start) { return }
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

    /// `friday the 13th`: both.
    private mutating func weekdayAndDay(_ isEvery: Bool, from start: Int) throws(CronError) {
        guard word == "the", let day = PhraseWords.ordinal(word(1)) else { return }
        guard day <= 31, meaning.join == nil, !meaning.hasMonthDays else { throw lost() }
        position += 2
        meaning.monthDays = 1 << UInt64(day)
        meaning.join = .and
        monthSuffix()
        if !isEvery, PhraseWords.month(word) != nil {
            meaning.bareDate = range(from: start).lowerBound..<range.upperBound
        }
    }

    /// `march 5th`, or the months of days that were named before.
    private mutating func monthFirst(_ isEvery: Bool, from start: Int) throws(CronError) {
        if let day = PhraseWords.ordinal(word(1)) ?? PhraseWords.number(word(1)), isDay(day) {
            return try yearDay(month: word, day: day, words: 2, isEvery, from: start)
        }
        guard meaning.hasWeekdays || meaning.hasMonthDays || meaning.interval != nil else {
            throw fault(
                "which days of \(CronNames.months[(PhraseWords.month(word) ?? 1) - 1]) is not said",
                fix: "say every day in \(word)")
        }
        try months()
    }

    func isDay(_ day: Int) -> Bool { (1...31).contains(day) }

    /// A list of days of the week; returns whether there was one.
    mutating func weekdays() throws(CronError) -> Bool {
        guard let first = weekdaySet() else { return false }
        var bits = first
        while word == "," || word == "and" || word == "or" {
            var next = self
            next.position += word == "," && (word(1) == "and" || word(1) == "or") ? 2 : 1
            _ = next.skip("on")
            _ = next.skip(any: "a", "every")
            guard let more = next.weekdaySet() else { break }
            self = next
            bits |= more
        }
        meaning.weekdays |= bits
        return true
    }

    /// One day, a range of days, or a word for several.
    mutating func weekdaySet() -> UInt64? {
        if PhraseWords.isWeekdays(word), word(1) != "nearest" {
            position += 1
            return 0b011_1110
        }
        if PhraseWords.isWeekend(word) || word == "weekend" {
            position += 1
            _ = skip("day")
            return 0b100_0001
        }
        if skip(any: "workday", "workdays") || word(1) != "nearest" && isWorkingDay { return 0b011_1110 }
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        let named = parts.compactMap { PhraseWords.weekday(String($0)) }
        if parts.count > 1, named.count == parts.count {
            position += 1
            return named.reduce(0) { $0 | 1 << UInt64($1) }
        }
        if let dash = word.firstIndex(of: "-"), let low = PhraseWords.weekday(String(word[..<dash])),
            let high = PhraseWords.weekday(String(word[word.index(after: dash)...]))
        {
            position += 1
            return Self.days(low, high)
        }
        guard let low = PhraseWords.weekday(word) else { return nil }
        position += 1
        guard word == "through" || word == "to" || word == "until" || word == "and" && isAfterBetween,
            let high = PhraseWords.weekday(word(1))
        else { return 1 << UInt64(low) }
        position += 2
        return Self.days(low, high)
    }

    /// `working days`, stepped over.
    var isWorkingDay: Bool {
        mutating get {
            guard word == "working" || word == "business", word(1) == "day" || word(1) == "days",
                word(2) != "nearest"
            else { return false }
            position += 2
            return true
        }
    }

    var isAfterBetween: Bool { position >= 2 && tokens[position - 2].text == "between" }

    /// From one day of the week through another, over the week's end if need be.
    static func days(_ low: Int, _ high: Int) -> UInt64 {
        let end = high < low ? high + 7 : high
        return (low...end).reduce(0) { $0 | 1 << UInt64($1 % 7) }
    }

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

    /// `the end of the month`, `start of every month`, after `at` or `on`; returns whether it was there.
    mutating func monthEnds(from start: Int) throws(CronError) -> Bool {
        let before = position
        _ = skip("the")
        let isEnd = word == "end"
        guard isEnd || word == "start" || word == "beginning" else {
            position = before
            return false
        }
        position += 1
        guard word == "of", monthSuffix() else {
            position = before
            return false
        }
        if isEnd {
            meaning.monthDayForms.append("L")
            meaning.monthEnd = range(from: start)
        } else {
            meaning.monthDays |= 1 << 1
        }
        return true
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
        let values = try ordinalList()
        if let weekday = PhraseWords.weekday(word) {
            position += 1
            for value in values {
                guard (1...5).contains(value) else {
                    throw fault(
                        kind: .outOfRange, at: range(from: start), "a month has at most five of a weekday")
                }
                meaning.weekdayForms.append("\(weekday)#\(value)")
            }
            return try needMonth(from: start)
        }
        if isWorkingDay || skip(any: "weekday", "workday") {
            guard values == [1] else {
                throw fault(
                    kind: .notExpressible, at: range(from: start),
                    "only the first and the last working day of a month can be said")
            }
            // The working day nearest to the 1st never lies in the month before.
            meaning.monthDayForms.append("1W")
            return try needMonth(from: start)
        }
        _ = skip("day")
        try monthDays(values, from: start)
    }

    /// What was read is a part of a month, and the words for that must follow, or have been said.
    private mutating func needMonth(from start: Int) throws(CronError) {
        guard monthSuffix() || word == "in" || isMonthly else {
            throw fault(at: range(from: start), "of what is not said", fix: "add of the month")
        }
    }

    /// `1st and 15th`, `1st through 5th`.
    private mutating func ordinalList() throws(CronError) -> [Int] {
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
        return values
    }

    /// Whether "every month" was said before.
    private var isMonthly: Bool { meaning.interval?.unit == .month }

    /// `of the month`, `of every month`; returns whether it was there.
    @discardableResult
    mutating func monthSuffix() -> Bool {
        skip("of", "the", "month") || skip("of", "every", "month") || skip("of", "each", "month")
            || skip("in", "the", "month") || skip("of", "month") || skip("every", "month")
            || skip("each", "month")
            || word == "of" && PhraseWords.month(word(1)) != nil && skip("of")
    }

    /// A day of one month, every year.
    mutating func yearDay(
        month: String, day: Int, words: Int, _ isEvery: Bool, from start: Int
    ) throws(CronError) {
        guard let month = PhraseWords.month(month), meaning.months == 0, !meaning.hasMonthDays else {
            throw lost()
        }
        guard day <= CivilDate.days(inMonth: month, of: 2024) else {
            position += words
            throw fault(
                kind: .outOfRange, at: range(from: start), "\(CronNames.months[month - 1]) has no day \(day)")
        }
        position += words
        let year = position + (word == "," ? 1 : 0)
        if !isEvery, year < tokens.count, tokens[year].text.utf8.count == 4,
            let number = PhraseWords.number(tokens[year].text), (1970...2199).contains(number)
        {
            guard day <= CivilDate.days(inMonth: month, of: number) else {
                throw fault(
                    kind: .outOfRange, at: range(from: start), "there is no such day in \(number)")
            }
            position = start
            let date = CivilDate(year: number, month: month, day: day)
            return try once(.date(date), words: year + 1 - start)
        }
        meaning.months = 1 << UInt64(month)
        meaning.monthDays = 1 << UInt64(day)
        if !isEvery { meaning.bareDate = range(from: start) }
    }

    mutating func months() throws(CronError) {
        guard meaning.months == 0 else { throw fault("the months are said twice") }
        while let low = PhraseWords.month(word) {
            position += 1
            var high = low
            if word == "through" || word == "to" || word == "until" || word == "and" && isAfterBetween,
                let last = PhraseWords.month(word(1))
            {
                position += 2
                high = last < low ? last + 12 : last
            }
            for month in low...high { meaning.months |= 1 << UInt64((month - 1) % 12 + 1) }
            guard word == "," || word == "and" || word == "or" else { break }
            var next = self
            next.position += word == "," && word(1) == "and" ? 2 : 1
            guard PhraseWords.month(next.word) != nil else { break }
            position = next.position
        }
    }

    /// `from 2026-11-27`, `starting on 2026-11-27`.
    mutating func firstDay() throws(CronError) {
        let start = position
        position += 1
        _ = skip(any: "on", "from", "at")
        guard let date = isoDate(), (0..<CalendarDay.end).contains(date.daysSinceEpoch) else {
            var probe = self
            if (try? probe.time()) != nil {
                throw fault(
                    at: tokens[start].range.lowerBound..<probe.range(from: start).upperBound,
                    "this can be the first time of all, or the first one of each day",
                    fix: "for each day name both limits, such as from 9 to midnight")
            }
            throw lost("a date such as 2026-11-27")
        }
        guard meaning.firstDay == nil else { throw fault("the first day is said twice") }
        position += 1
        meaning.firstDay = (date, range(from: start))
    }

    func isoDate() -> CivilDate? {
        guard word.utf8.count == 10, let moment = try? Moment(iso8601: word + "T00:00Z") else { return nil }
        return CivilTime(moment).date
    }

    /// `2026-12-24T09:30` as a date and a time; returns whether it was there.
    mutating func isoTime() throws(CronError) -> Bool {
        guard word.utf8.count >= 16, word.utf8.dropFirst(10).first == UInt8(ascii: "t"),
            meaning.times.isEmpty,
            let moment = try? Moment(iso8601: word.uppercased() + "Z")
        else { return false }
        let local = CivilTime(moment)
        meaning.times = [.init(hour: local.hour, minute: local.minute, second: local.second)]
        meaning.timesRange = range
        try once(.date(local.date), words: 1)
        return true
    }
}
