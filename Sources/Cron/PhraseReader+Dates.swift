import Timeline

extension PhraseReader {
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

    /// `2026-12-24T09:30` as a date and a time; says whether it was there.
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
