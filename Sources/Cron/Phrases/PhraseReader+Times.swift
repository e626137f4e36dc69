import Timeline

extension PhraseReader {
    /// Whether a time of day written as one stands here: `9:30`, `6pm`, `noon`, or `9 am`.
    var isTime: Bool {
        if word == "noon" || word == "midnight" || word == "midday" { return true }
        let isQuarter = word == "quarter" || word == "a" && word(1) == "quarter"
        let distance = word == "a" ? 2 : 1
        if word == "half" && word(1) == "past"
            || isQuarter && (word(distance) == "past" || word(distance) == "to")
        {
            return true
        }
        if word(1) == "o'clock", PhraseWords.number(word) != nil { return true }
        guard let first = word.utf8.first, first &- 0x30 < 10, word.utf8.count < 10 else { return false }
        return word.utf8.contains(UInt8(ascii: ":")) || word.hasSuffix("am") || word.hasSuffix("pm")
            || isHalf(word(1))
    }

    private func isHalf(_ word: String) -> Bool {
        word == "am" || word == "pm" || word == "a.m." || word == "p.m."
    }

    /// `at ...`: times of day, minutes of the hour, or the machine's start.
    mutating func at() throws(CronError) {
        let start = position
        position += 1
        if skip("the", "start", "of", "every", "hour") || skip("the", "top", "of", "every", "hour") {
            return try minuteMarks([0], from: start)
        }
        switch word {
        case "startup", "boot", "reboot": return try event(.startup, words: 1)
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
        if let minute = PhraseWords.number(word), minute < 60 {
            let before = position
            position += 1
            _ = skip(any: "minutes", "minute")
            if skip("past", "the", "hour") || skip("past", "every", "hour") || skip("past", "each", "hour") {
                return try minuteMarks([minute], from: start)
            }
            position = before
        }
        try times()
    }

    /// `minutes 0 and 45 of every hour`, `:00 and :30`.
    private mutating func minuteList(from start: Int) throws(CronError) {
        var values: [Int] = []
        while let minute = colonMinute {
            values.append(minute)
            position += 1
            let isMore = word == "," || word == "and"
            var next = self
            next.position += 1
            guard isMore, next.colonMinute != nil else { return try minuteMarks(values, from: start) }
            position += 1
        }
        position += 1
        try minuteMarks(try numbers(upTo: 59, "a minute"), from: start)
    }

    /// The minute of `:15`.
    private var colonMinute: Int? {
        guard word.utf8.count == 3, word.hasPrefix(":"),
            let minute = PhraseWords.number(String(word.dropFirst())),
            minute < 60
        else { return nil }
        return minute
    }

    private mutating func minuteMarks(_ values: [Int], from start: Int) throws(CronError) {
        guard meaning.minuteMarks == 0 else {
            throw fault(at: range(from: start), "the minutes are said twice")
        }
        for value in values { meaning.minuteMarks |= 1 << UInt64(value) }
        try hourSuffix()
    }

    /// `of every hour`, `past the hour`.
    mutating func hourSuffix() throws(CronError) {
        guard skip(any: "of", "past") else { return }
        guard skip(any: "every", "each", "the"), skip("hour") else { throw lost("every hour") }
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
        guard meaning.times.isEmpty else {
            throw fault("the time is said twice", fix: "join the times with and")
        }
        while true {
            meaning.times.append(try time())
            let isMore = word == "," || word == "and"
            var next = self
            next.position += word == "," && word(1) == "and" ? 2 : 1
            _ = next.skip("at")
            // "at 9, 15 december" goes on with a date.
            let isHour = PhraseWords.number(next.word) != nil && PhraseWords.month(next.word(1)) == nil
            guard isMore, next.isTime || isHour else { break }
            position = next.position
        }
        meaning.timesRange = range(from: start)
    }

    /// One time: `9`, `9:30`, `17:30:15`, `6pm`, `6 pm`, `noon`, `half past nine`, `8 in the morning`.
    mutating func time() throws(CronError) -> PhraseMeaning.Time {
        if skip(any: "noon", "midday") { return .init(hour: 12) }
        if skip("midnight") { return .init(hour: 0) }
        let start = position
        if skip("half", "past") { return try fullHour(from: start, plus: 30) }
        if skip("quarter", "past") || skip("a", "quarter", "past") {
            return try fullHour(from: start, plus: 15)
        }
        if skip("quarter", "to") || skip("a", "quarter", "to") {
            var time = try fullHour(from: start, plus: 45)
            time.hour = (time.hour + 23) % 24
            return time
        }
        var digits = word
        var half = digits.hasSuffix("am") || digits.hasSuffix("pm") ? String(digits.suffix(2)) : ""
        if !half.isEmpty { digits.removeLast(2) }
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
        let minute = parts.count > 1 ? parts[1] ?? 0 : 0
        let second = parts.count > 2 ? parts[2] ?? 0 : 0
        guard minute < 60, second < 60, hour < 24, half.isEmpty || (1...12).contains(hour) else {
            let fix = hour == 24 && half.isEmpty ? "say midnight" : nil
            throw fault(kind: .outOfRange, at: range(from: start), "there is no such time of day", fix: fix)
        }
        if half.isEmpty, let named = try clockHour(of: hour, from: start) {
            return .init(hour: named, minute: minute, second: second, isHalved: true)
        }
        let base = half.isEmpty ? hour : hour % 12 + (half == "pm" ? 12 : 0)
        let isOpen = half.isEmpty && (1...12).contains(hour) && !digits.hasPrefix("0")
        return .init(hour: base, minute: minute, second: second, isOpen: isOpen, isHalved: !half.isEmpty)
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

    /// Refuses bare hours beside ones with am or pm: whether the bare one is before noon is not said.
    func settleHalves() throws(CronError) {
        let hours = meaning.times
        if hours.contains(where: \.isOpen), hours.contains(where: \.isHalved) {
            throw fault(
                at: meaning.timesRange, "which half of the day is not said of every time",
                fix: "write am or pm after each")
        }
        guard let window = meaning.window, let to = window.to else { return }
        let isMixed = window.from.isOpen && to.isHalved || window.from.isHalved && to.isOpen
        // "from noon to 3" would end at night by a 24-hour clock.
        let isBackwards = to.isOpen && window.from.hour > to.hour && window.from.hour <= 12
        guard !isMixed, !isBackwards else {
            throw fault(
                at: window.range, "which half of the day is not said of both limits",
                fix: "write 9am and 5pm, or 9 and 17")
        }
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

    /// `between 9 and 17`, `from 9:00 through 17:45`, `from monday to friday`, `from june to august`.
    mutating func window() throws(CronError) {
        let start = position
        let isBetween = word == "between"
        position += 1
        if !isBetween, isoDate() != nil {
            position = start
            return try firstDay()
        }
        if PhraseWords.month(word) != nil { return try months() }
        if PhraseWords.weekday(word) != nil || word == "the" || PhraseWords.ordinal(word) != nil {
            return try days()
        }
        guard meaning.window == nil else { throw fault(at: range(from: start), "the limits are said twice") }
        if let dash = word.firstIndex(of: "-") {
            let token = tokens[position]
            let left = String(token.text[..<dash])
            let right = String(token.text[token.text.index(after: dash)...])
            var inner = PhraseReader(
                "\(isBetween ? "between" : "from") \(left) \(isBetween ? "and" : "to") \(right)")
            do {
                try inner.window()
            } catch {
                throw lost("limits such as between 9 and 17")
            }
            position += 1
            var window = inner.meaning.window
            window?.range = range(from: start)
            meaning.window = window
            return
        }
        let from = try time()
        var to: PhraseMeaning.Time?
        var isInclusive = false
        if isBetween {
            guard skip("and") else { throw lost("and") }
            to = try time()
        } else if word == "through" || word == "to" || word == "until" || word == "till" {
            isInclusive = word == "through"
            position += 1
            to = try time()
        }
        meaning.window = .init(from: from, to: to, isInclusive: isInclusive, range: range(from: start))
    }
}
