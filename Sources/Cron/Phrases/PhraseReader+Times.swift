extension PhraseReader {
    /// Whether a time of day written as one stands here: `9:30`, `6pm`, `noon`, `9 am`, or `10 past 9`.
    var isTime: Bool {
        if word == "noon" || word == "midnight" || word == "midday" { return true }
        let isQuarter = word == "quarter" || word == "a" && word(1) == "quarter"
        let distance = word == "a" ? 2 : 1
        if word == "half" && word(1) == "past"
            || isQuarter && (word(distance) == "past" || word(distance) == "to")
        {
            return true
        }
        if PhraseWords.number(word) != nil, word(1) == "o'clock" || isPastHour { return true }
        guard let first = word.utf8.first, first &- 0x30 < 10, word.utf8.count < 10 else { return false }
        return word.utf8.contains(UInt8(ascii: ":")) || word.hasSuffix("am") || word.hasSuffix("pm")
            || isHalf(word(1)) || clockText(word)?.contains(":") == true
    }

    /// Whether `10 past 9` or `10 minutes past 9` stands here.
    private var isPastHour: Bool {
        let distance = word(1) == "minutes" || word(1) == "minute" ? 2 : 1
        return word(distance) == "past" && !["the", "every", "each", ""].contains(word(distance + 1))
    }

    /// `8:30` for `8.30`, `8h30` and `0830`; the hour for `8h` and `8`; the word itself where it is none of them.
    private func clockText(_ word: String) -> String? {
        let bytes = Array(word.utf8)
        let digits = bytes.prefix { $0 &- 0x30 < 10 }.count
        let rest = bytes[digits...]
        let isEnd = rest.dropFirst().allSatisfy { $0 &- 0x30 < 10 }
        switch (digits, rest.first, rest.count) {
        case (4, nil, 0):
            return "\(word.prefix(2)):\(word.suffix(2))"
        case (1...2, UInt8(ascii: "h")?, 1): return String(word.prefix(digits))
        case (1...2, UInt8(ascii: "h")?, 3) where isEnd, (1...2, UInt8(ascii: ".")?, 3) where isEnd:
            return "\(word.prefix(digits)):\(word.suffix(2))"
        default: return nil
        }
    }

    private func isHalf(_ word: String) -> Bool {
        word == "am" || word == "pm" || word == "a.m." || word == "p.m."
    }

    /// `at ...`: times of day, minutes of the hour, or the machine's start.
    mutating func at() throws(CronError) {
        let start = position
        position += 1
        if skipHourStart() { return try minuteMarks([0], from: start) }
        if try minutesOfHour(from: start) { return }
        if try monthEnds(from: start) { return }
        switch word {
        case "startup", "boot", "reboot": return try event(.startup(), words: 1)
        case "minute", "minutes": return try minuteList(from: start)
        case "every":
            guard PhraseWords.ordinal(word(1)) != nil, word(2) == "minute", word(3) == "from" else {
                throw lost("a time such as 9:30")
            }
            return try every()
        case "weekends", "weekdays": return try days()
        case "night": throw fault("\"night\" is not a time", fix: "say the hour")
        default: break
        }
        if colonMinute != nil { return try minuteList(from: start) }
        if isoDate() != nil { return try days() }
        if try isoTime() { return }
        try times()
    }

    /// Numbers joined by `and` and commas, with ranges `1 through 7`.
    mutating func numbers(upTo limit: Int, _ what: String) throws(CronError) -> [Int] {
        var values: [Int] = []
        while true {
            guard let low = PhraseWords.number(word) else { throw lost("\(what)") }
            guard low <= limit else { throw fault(kind: .outOfRange, "\(low) is more than \(limit)") }
            position += 1
            if word == "through" || word == "to", let high = PhraseWords.number(word(1)) {
                position += 2
                guard low <= high, high <= limit else {
                    throw fault(kind: .reversedRange, "the range is impossible")
                }
                values += Array(low...high)
            } else {
                values.append(low)
            }
            guard word == "," || word == "and", PhraseWords.number(word(1)) != nil else { return values }
            position += 1
        }
    }

    /// Times of day joined by `and` and commas.
    mutating func times() throws(CronError) {
        let start = position
        guard meaning.times.isEmpty else { throw secondTimes() }
        while true {
            meaning.times.append(try time())
            let isMore = word == "," || word == "and"
            var next = self
            next.position += word == "," && word(1) == "and" ? 2 : 1
            _ = next.skip("at")
            // "at 9, 15 december" continues with a date.
            let isHour = PhraseWords.number(next.word) != nil && PhraseWords.month(next.word(1)) == nil
            guard isMore, next.isTime || isHour else { break }
            position = next.position
        }
        meaning.timesRange = range(from: start)
    }

    /// The fault of times after others: joined with those, they would lose the days between the two.
    private func secondTimes() -> CronError {
        let between = tokens[..<position].filter { $0.range.lowerBound >= meaning.timesRange.upperBound }
        let namesDays = meaning.hasWeekdays || meaning.hasMonthDays || meaning.once != nil
        guard namesDays, !between.allSatisfy({ [",", "and", "at", "@"].contains($0.text) }) else {
            return fault("the time is said twice", fix: "join the times with and")
        }
        return fault("this is a second schedule", fix: "make one schedule for each")
    }

    /// One time: `9`, `9:30`, `17:30:15`, `6pm`, `6 pm`, `noon`, `half past nine`, `8 in the morning`.
    mutating func time() throws(CronError) -> PhraseMeaning.Time {
        if skip(any: "noon", "midday") { return .init(hour: 12) }
        if skip("midnight") {
            meaning.saysMidnight = true
            return .init(hour: 0)
        }
        let start = position
        if let time = try timePastHour(from: start) { return time }
        var digits = word
        var half = digits.hasSuffix("am") || digits.hasSuffix("pm") ? String(digits.suffix(2)) : ""
        if !half.isEmpty { digits.removeLast(2) }
        let isPlain = PhraseWords.number(digits) != nil
        digits = clockText(digits) ?? digits
        let parts = digits.split(separator: ":", omittingEmptySubsequences: false).map { part in
            PhraseWords.number(String(part))
        }
        guard (1...3).contains(parts.count), let hour = parts[0], !digits.isEmpty,
            parts.dropFirst().allSatisfy({ $0 != nil }), hasTwoDigits(digits)
        else { throw lost("a time such as 9:30 or 6pm") }
        position += 1
        if half.isEmpty, isHalf(word) {
            half = word.filter { $0 != "." }
            position += 1
        }
        _ = skip("o'clock")
        if digits.contains(":"), isPlain { _ = skip(any: "hours", "hrs") }
        let minute = parts.count > 1 ? parts[1] ?? 0 : 0
        let second = parts.count > 2 ? parts[2] ?? 0 : 0
        guard minute < 60, second < 60, hour < 24, half.isEmpty || (1...12).contains(hour) else {
            throw noSuchTime(hour: hour, isHalved: !half.isEmpty, from: start)
        }
        if half.isEmpty, let named = try clockHour(of: hour, from: start) {
            return .init(hour: named, minute: minute, second: second, isHalved: true)
        }
        let base = half.isEmpty ? hour : hour % 12 + (half == "pm" ? 12 : 0)
        let isOpen = half.isEmpty && (1...12).contains(hour) && !digits.hasPrefix("0")
        return .init(
            hour: base, minute: minute, second: second, isOpen: isOpen, isHalved: !half.isEmpty,
            isBare: half.isEmpty && !digits.contains(":"))
    }

    /// `half past nine`, `a quarter to six`, `20 minutes past 9`; nil: it is none of them.
    private mutating func timePastHour(from start: Int) throws(CronError) -> PhraseMeaning.Time? {
        if let minute = PhraseWords.number(word), (1..<60).contains(minute), isPastHour {
            position += 1
            _ = skip(any: "minutes", "minute")
            position += 1
            return try fullHour(from: start, plus: minute)
        }
        if skip("half", "past") { return try fullHour(from: start, plus: 30) }
        if skip("quarter", "past") || skip("a", "quarter", "past") {
            return try fullHour(from: start, plus: 15)
        }
        guard skip("quarter", "to") || skip("a", "quarter", "to") else { return nil }
        var time = try fullHour(from: start, plus: 45)
        time.hour = (time.hour + 23) % 24
        return time
    }

    private func noSuchTime(hour: Int, isHalved: Bool, from start: Int) -> CronError {
        let isMinute = !isHalved && hour < 60 && meaning.interval?.unit == .hour
        let fix =
            hour == 24 && !isHalved
            ? "say midnight" : isMinute ? "for a minute of the hour write :\(hour)" : nil
        return fault(kind: .outOfRange, at: range(from: start), "there is no such time of day", fix: fix)
    }

    /// The hour that `half past` and its like are said of, with their minutes.
    private mutating func fullHour(from start: Int, plus minute: Int) throws(CronError) -> PhraseMeaning.Time
    {
        var time = try time()
        guard time.minute == 0, time.second == 0 else {
            throw fault(at: range(from: start), "a full hour is expected here", fix: "write half past 9")
        }
        time.minute = minute
        return time
    }

    /// The hour of `8 in the evening`; `nil` when no part of the day follows.
    private mutating func clockHour(of hour: Int, from start: Int) throws(CronError) -> Int? {
        let isNight = skip("at", "night")
        guard isNight || word == "in" && word(1) == "the",
            let part = isNight ? "night" : PhraseWords.partOfDay(word(2)), isNight || part == word(2)
        else { return nil }
        if !isNight { position += 3 }
        if part == "night", let small = Self.smallHour(hour) {
            meaning.smallHours = range(from: start)
            return small
        }
        // What people say, and what a 24-hour clock shows.
        let (early, said, shown): (Int, ClosedRange<Int>, ClosedRange<Int>) =
            switch part {
            case "morning": (0, 1...11, 0...0)
            case "afternoon": (12, 0...6, 13...18)
            case "evening": (12, 4...11, 16...23)
            default: (12, 8...11, 18...23)
            }
        let clock = part == "morning" ? hour : hour % 12
        if hour > 0, hour <= 12, said.contains(clock) { return clock + early }
        if shown.contains(hour) { return hour }
        throw fault(
            kind: .outOfRange, at: range(from: start), "\(hour) is not clearly a time of the \(part)",
            fix: "write it with am or pm, or as 00:00 to 23:59")
    }

    /// What 12 and 1 to 5 mean at night: midnight, and the hours after it.
    private static func smallHour(_ hour: Int) -> Int? {
        hour == 12 ? 0 : (1...5).contains(hour) ? hour : nil
    }

    /// `morning`, `night`: says which half of the day the hours belong to.
    mutating func partOfDay(_ word: String) throws(CronError) {
        guard meaning.partOfDay == nil else { throw fault("the part of the day is said twice") }
        meaning.partOfDay = (word, range)
        position += 1
    }

    /// Moves bare hours into the part of the day that was named, and refuses those that do not belong there.
    mutating func settlePartOfDay() throws(CronError) {
        let part = meaning.partOfDay
        for number in meaning.times.indices {
            guard let part else { break }
            var time = meaning.times[number]
            if part.word == "night", time.isOpen, let small = Self.smallHour(time.hour) {
                time.hour = small
            } else if part.word != "morning", time.isOpen {
                time.hour = time.hour % 12 + 12
            }
            time.isOpen = false
            meaning.times[number] = time
            let hours =
                switch part.word {
                case "morning": 0...11
                case "afternoon": 12...17
                case "evening": 16...23
                default: 18...23
                }
            if part.word == "night", time.hour < 6 {
                meaning.smallHours = meaning.timesRange
                continue
            }
            guard hours.contains(time.hour) else {
                throw fault(
                    at: meaning.timesRange,
                    "\(CronWords.clock(time.hour, time.minute)) is not in the \(part.word)")
            }
        }
        try requireEveryNight()
        guard let part, meaning.times.isEmpty else { return }
        throw fault(
            at: part.range, "\"\(part.word)\" is not a time", fix: "say the hour, such as every day at 8")
    }

    /// Refuses the small hours of a certain night: whether they are those of the day or of the one after it is not
    /// said.
    private func requireEveryNight() throws(CronError) {
        let isEveryNight =
            meaning.once == nil && !meaning.hasWeekdays && !meaning.hasMonthDays && meaning.exceptions == nil
            && (!meaning.countsDays || meaning.firstDay == nil)
        guard let small = meaning.smallHours, !isEveryNight else { return }
        throw fault(
            at: small, "whether these hours are those before or after that day is not said",
            fix: "name their day and write am, such as monday at 2am")
    }

    /// Minutes and seconds are written with two digits.
    private func hasTwoDigits(_ digits: String) -> Bool {
        digits.split(separator: ":", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            $0.utf8.count == 2
        }
    }
}
