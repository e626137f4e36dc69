extension PhraseReader {
    /// A list of days of the week; says whether there was one.
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
}
