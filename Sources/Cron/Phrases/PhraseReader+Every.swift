extension PhraseReader {
    /// `every ...`: an interval, or the days that follow.
    mutating func every() throws(CronError) {
        let start = position
        position += 1
        _ = skip("single")
        if try everyNamed(from: start) { return }
        if word(1) == "day", word(2) == "of", let number = PhraseWords.ordinal(word), number > 1 {
            let place = range(from: start).lowerBound..<tokens[position + 1].range.upperBound
            throw fault(
                at: place, "\"\(word) day\" can be one of a month or every so many days",
                fix: "say on day \(number) of the month, or every \(number) days")
        }
        if let unit = PhraseWords.unit(word),
            word != "second" || PhraseWords.ordinalFollowerIsMissing(word(1))
        {
            position += 1
            try interval(1, unit, from: start)
            // "every day of the week" is every day.
            if unit == .day { _ = skip("of", "the", "week") || skip("of", "the", "month") }
            return
        }
        if try everyNth(from: start) { return }
        if try everyNumber(from: start) { return }
        meaning.bareDate = nil
        try days(isEvery: true)
    }

    /// Intervals that have a name of their own: `every fortnight`, `every quarter`, `every half hour`, `every evening`;
    /// whether it was one.
    private mutating func everyNamed(from start: Int) throws(CronError) -> Bool {
        switch word {
        case "other":
            position += 1
            try everyOther(from: start)
        case "half":
            guard skip("half", "hour") || skip("half", "an", "hour") else { throw lost("half hour") }
            try interval(30, .minute, from: start)
        case "half-hour":
            position += 1
            try interval(30, .minute, from: start)
        case "hour" where word(1) == "and" && word(2) == "a" && word(3) == "half":
            position += 4
            try interval(90, .minute, from: start)
        case "few", "several", "couple", "some":
            throw fault("how many is not said", fix: "write the number, such as every 3 hours")
        case "fortnight":
            position += 1
            try interval(2, .week, from: start)
        case "noon", "midday", "midnight":
            try interval(1, .day, from: start)
            try times()
        case "quarter":
            if skip("quarter", "hour") || skip("quarter", "of", "an", "hour") {
                try interval(15, .minute, from: start)
            } else {
                position += 1
                try interval(3, .month, from: start)
            }
        case "morning", "afternoon", "evening", "night":
            try interval(1, .day, from: start)
            try partOfDay(word)
        default:
            return false
        }
        return true
    }

    /// `every 20 minutes`, `every 1h30m`, `every hour and 30 minutes`; whether it was one.
    private mutating func everyNumber(from start: Int) throws(CronError) -> Bool {
        let beforeDuration = position
        if let number = PhraseWords.number(word), let unit = PhraseWords.unit(word(1)) {
            // "1 hour and 30 minutes" is one interval.
            if let whole = duration(), position > beforeDuration + 2 {
                try interval(Int(whole.components.seconds), .second, from: start)
            } else {
                position = beforeDuration + 2
                try interval(number, unit, from: start)
            }
            return true
        }
        if let duration = duration() {
            try interval(Int(duration.components.seconds), .second, from: start)
            return true
        }
        position = beforeDuration
        if let number = PhraseWords.number(word), PhraseWords.month(word(1)) == nil {
            position += 1
            throw number > 0 ? lost("a unit such as minutes") : fault("the interval is zero")
        }
        return false
    }

    /// `every other day`, `every other monday`, `every other night`.
    private mutating func everyOther(from start: Int) throws(CronError) {
        if ["morning", "afternoon", "evening", "night"].contains(word) {
            try interval(2, .day, from: start)
            return try partOfDay(word)
        }
        if let unit = PhraseWords.unit(word) {
            position += 1
            return try interval(2, unit, from: start)
        }
        guard let weekday = PhraseWords.weekday(word) else { throw lost("a unit or a day of the week") }
        position += 1
        meaning.weekdays |= 1 << UInt64(weekday)
        try interval(2, .week, from: start)
    }

    /// `every 2nd day`, `every third hour`, `every 2nd day from 1 through 31`, `every first monday of the month`.
    private mutating func everyNth(from start: Int) throws(CronError) -> Bool {
        guard let number = PhraseWords.ordinal(word) else { return false }
        if let unit = PhraseWords.unit(word(1)), word(2) != "of" {
            guard number > 1 || unit != .day else {
                throw fault(
                    at: range(from: start).lowerBound..<tokens[position + 1].range.upperBound,
                    "this can be every day or the first day of the month", fix: "say every day, or on the 1st"
                )
            }
            position += 2
            if word == "from", PhraseWords.number(word(1)) != nil, word(2) == "through" {
                try progression(number, unit)
            } else {
                try interval(number, unit, from: start)
            }
            return true
        }
        if PhraseWords.weekday(word(1)) != nil, word(2) != "of", word(2) != "in" {
            throw fault(
                at: range(from: start).lowerBound..<tokens[position + 1].range.upperBound,
                "\"\(word) \(word(1))\" can be one of a month or every so many weeks",
                fix: number == 1
                    ? "say of the month, or every \(word(1))"
                    : "say of the month, or every \(number) weeks on \(word(1))")
        }
        return false
    }

    /// `from 0 through 56`, after `every 7th minute` or `every 2nd day`.
    private mutating func progression(_ step: Int, _ unit: PhraseWords.Unit) throws(CronError) {
        let start = position
        guard let first = PhraseWords.number(word(1)), let last = PhraseWords.number(word(3)), step > 0,
            first <= last, unit == .minute || unit == .day, last <= (unit == .minute ? 59 : 31),
            unit == .minute || first > 0
        else { throw fault("these limits were not understood") }
        position += 4
        let bits = CanonicalFields.progression(first, last, step)
        if unit == .minute {
            meaning.minuteMarks |= bits
            try hourSuffix()
        } else {
            meaning.monthDays |= bits
            monthSuffix()
        }
        guard position > start else { throw lost() }
    }

    mutating func interval(_ count: Int, _ unit: PhraseWords.Unit, from start: Int) throws(CronError) {
        let place = range(from: start)
        guard count > 0 else { throw fault(at: place, "the interval is zero") }
        if let known = meaning.interval {
            // "every 15 minutes every day".
            let isDaily = unit == .day && count == 1
            let wasDaily = known.unit == .day && known.count == 1
            guard isDaily != wasDaily, isDaily ? !known.unit.isLong : !unit.isLong else {
                throw fault(at: place, "how often is said twice")
            }
            meaning.isEveryDay = true
            if wasDaily { meaning.interval = .init(count: count, unit: unit, range: place) }
            return
        }
        meaning.interval = .init(count: count, unit: unit, range: place)
    }

    /// `hourly`, `daily`, ...; returns whether it was one.
    mutating func namedInterval() throws(CronError) -> Bool {
        let start = position
        let unit: PhraseWords.Unit
        try refuseTwoReadings()
        switch word {
        case "hourly": unit = .hour
        case "daily", "everyday", "nightly": unit = .day
        case "weekly": unit = .week
        case "monthly": unit = .month
        case "yearly", "annually": unit = .year
        case "quarterly", "semiannually", "half-yearly": unit = .month
        case "fortnightly", "biweekly": unit = .week
        case "half-hourly": unit = .minute
        default: return false
        }
        position += 1
        let named = tokens[start].text
        let counts = [
            "quarterly": 3, "semiannually": 6, "half-yearly": 6, "fortnightly": 2, "biweekly": 2,
            "half-hourly": 30,
        ]
        try interval(counts[named] ?? 1, unit, from: start)
        if named == "biweekly" { meaning.biweekly = tokens[start].range }
        if named == "nightly" { meaning.partOfDay = ("night", tokens[start].range) }
        return true
    }

    /// `once a day`, `once every hour`, `once daily`.
    mutating func frequency() throws(CronError) {
        let start = position
        if try counts() { return }
        position += 1
        if word == "every" || word == "each" { return try every() }
        if try namedInterval() { return }
        guard skip(any: "a", "an", "per"), let unit = PhraseWords.unit(word) else {
            position = start
            throw fault("once when was not understood", fix: "say once a day, or name the date")
        }
        position += 1
        try interval(1, unit, from: start)
    }
}

extension PhraseWords {
    /// Whether "second" before this word is the unit and not the ordinal.
    static func ordinalFollowerIsMissing(_ word: String) -> Bool {
        unit(word) == nil && weekday(word) == nil
    }
}

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
