import Timeline

extension PhraseReader {
    /// Whether a time of day written as one stands here: `9:30`, `6pm`, `noon`, or `9 am`.
    var isTime: Bool {
        if word == "noon" || word == "midnight" || word == "midday" { return true }
        guard let first = word.utf8.first, first &- 0x30 < 10 else { return false }
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
        case "night": throw fault("\"night\" is no time", fix: "say the hour")
        default: break
        }
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

    /// `minutes 0 and 45 of every hour`.
    private mutating func minuteList(from start: Int) throws(CronError) {
        position += 1
        let values = try numbers(upTo: 59, "a minute")
        try minuteMarks(values, from: start)
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
            let isMore = word == "," || word == "and" || word == "or"
            var next = self
            next.position += word == "," && word(1) == "and" ? 2 : 1
            _ = next.skip("at")
            guard isMore, next.isTime || PhraseWords.number(next.word) != nil else { break }
            position = next.position
        }
        meaning.timesRange = range(from: start)
    }

    /// One time: `9`, `9:30`, `17:30:15`, `6pm`, `6 pm`, `noon`, `half past nine`, `8 in the morning`.
    mutating func time() throws(CronError) -> PhraseMeaning.Time {
        if skip(any: "noon", "midday") { return .init(hour: 12) }
        if skip("midnight") { return .init(hour: 0) }
        if skip("half", "past") {
            var time = try time()
            time.minute = 30
            return time
        }
        if skip("quarter", "past") || skip("a", "quarter", "past") {
            var time = try time()
            time.minute = 15
            return time
        }
        if skip("quarter", "to") || skip("a", "quarter", "to") {
            let time = try time()
            return .init(hour: (time.hour + 23) % 24, minute: 45, isOpen: time.isOpen)
        }
        let start = position
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
        if half.isEmpty { half = partOfDay() }
        let minute = parts.count > 1 ? parts[1] ?? 0 : 0
        let second = parts.count > 2 ? parts[2] ?? 0 : 0
        guard minute < 60, second < 60, hour < 24, half.isEmpty || (1...12).contains(hour) else {
            let fix = hour == 24 && half.isEmpty ? "say midnight" : nil
            throw fault(kind: .outOfRange, at: range(from: start), "there is no such time of day", fix: fix)
        }
        let base = half.isEmpty ? hour : hour % 12 + (half == "pm" ? 12 : 0)
        let isOpen = half.isEmpty && (1...12).contains(hour) && !digits.hasPrefix("0")
        return .init(hour: base, minute: minute, second: second, isOpen: isOpen)
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
            var time = meaning.times[number]
            if let part, part.word != "morning", time.isOpen { time.hour = time.hour % 12 + 12 }
            time.isOpen = false
            meaning.times[number] = time
            guard let part else { continue }
            let hours =
                switch part.word {
                case "morning": 0...11
                case "afternoon": 12...17
                case "evening": 16...23
                default: 18...23
                }
            guard hours.contains(time.hour) else {
                throw fault(
                    at: meaning.timesRange,
                    "\(CronWords.clock(time.hour, time.minute)) is not in the \(part.word)")
            }
        }
        guard let part, meaning.times.isEmpty else { return }
        throw fault(
            at: part.range, "\"\(part.word)\" is no time", fix: "say the hour, such as every day at 8")
    }

    /// Minutes and seconds are written with two digits.
    private func hasTwoDigits(_ digits: String) -> Bool {
        digits.split(separator: ":", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            $0.utf8.count == 2
        }
    }

    private mutating func partOfDay() -> String {
        if skip("in", "the", "morning") { return "am" }
        if skip("in", "the", "afternoon") || skip("in", "the", "evening") { return "pm" }
        return ""
    }

    /// `between 9 and 17`, `from 9:00 through 17:45`, `from monday to friday`, `from june to august`.
    mutating func window() throws(CronError) {
        let start = position
        let isBetween = word == "between"
        position += 1
        if PhraseWords.weekday(word) != nil || PhraseWords.month(word) != nil { return try days() }
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
