extension PhraseReader {
    // MARK: Minutes of every hour

    /// `the start of every hour`, `the top of the hour`, stepped over.
    mutating func skipHourStart() -> Bool {
        let before = position
        _ = skip("the")
        if skip(any: "start", "top", "beginning"), skip("of"), skip(any: "every", "each", "the"), skip("hour")
        {
            return true
        }
        position = before
        return false
    }

    /// `on the hour`, `on the half hour`, `on the hour and half hour`, after `on`; returns whether it was there.
    mutating func wholeAndHalfHours(from start: Int) throws(CronError) -> Bool {
        var minutes: [Int] = []
        var probe = self
        while true {
            _ = probe.skip("on")
            _ = probe.skip("the")
            if probe.skip("hour") {
                minutes.append(0)
            } else if probe.skip("half", "hour") || probe.skip("half-hour") {
                minutes.append(30)
            } else {
                break
            }
            position = probe.position
            guard probe.skip("and") else { break }
        }
        if !minutes.isEmpty { try minuteMarks(minutes, from: start) }
        return !minutes.isEmpty
    }

    /// `5 minutes past every hour`, `a quarter past the hour`, `15 and 45 past`; returns whether it was there.
    mutating func minutesOfHour(from first: Int? = nil) throws(CronError) -> Bool {
        let start = first ?? position
        var probe = self
        var values: [Int]
        if probe.skip("half") {
            values = [30]
        } else if probe.skip("quarter") || probe.skip("a", "quarter") {
            values = [15]
        } else {
            guard let read = try? probe.numbers(upTo: 59, "a minute") else { return false }
            values = read
            _ = probe.skip(any: "minutes", "minute", "min", "mins")
        }
        let isBefore = probe.word == "before" || probe.word == "to"
        guard isBefore || probe.word == "past" || probe.word == "after" else { return false }
        probe.position += 1
        let isHour = ["the", "every", "each"].contains(probe.word) && probe.word(1) == "hour"
        // "every hour at quarter past".
        let isShort =
            !isBefore && meaning.interval?.unit == .hour && probe.word != "hour"
            && (probe.position == tokens.count || probe.word == "," || PhraseWords.isClauseStart(probe.word))
        guard isHour || isShort else { return false }
        if isHour { probe.position += 2 }
        if isBefore { values = values.map { (60 - $0) % 60 } }
        position = probe.position
        try minuteMarks(values, from: start)
        return true
    }

    /// `minutes 0 and 45 of every hour`, `:00 and :30`.
    mutating func minuteList(from start: Int) throws(CronError) {
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
    var colonMinute: Int? {
        guard word.utf8.count == 3, word.hasPrefix(":"),
            let minute = PhraseWords.number(String(word.dropFirst())),
            minute < 60
        else { return nil }
        return minute
    }

    mutating func minuteMarks(_ values: [Int], from start: Int) throws(CronError) {
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
}
