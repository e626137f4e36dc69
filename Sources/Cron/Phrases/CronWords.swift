import Timeline

/// Says in English what masks mean, and never more than that.
///
/// A regular step is called "every 15 minutes" only where it really comes every 15 minutes, through the hour's
/// end too; `*/45` is "at minutes 0 and 45 of every hour".
struct CronWords {
    let masks: CronMasks

    /// The whole sentence, without a full stop.
    var sentence: String {
        guard masks.hasAnyDate else {
            return "Never: no date matches " + dates.joined(separator: " ")
        }
        let parts = [times] + dates
        let text = parts.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    // MARK: Times of the day

    private var hours: [Int] { CanonicalFields.places(masks.hours) }
    private var minutes: [Int] { CanonicalFields.places(masks.minutes) }
    private var seconds: [Int] { CanonicalFields.places(masks.seconds) }

    private var times: String {
        if masks.seconds == 1 { return minuteTimes }
        if seconds.count == 1, hours.count * minutes.count <= 6 { return listedTimes }
        let isEveryMinute = masks.minutes == CronMasks.allSeconds && masks.hours == CronMasks.allHours
        if isEveryMinute { return Self.steps(seconds, 60, "second", of: "minute") }
        let part = Self.steps(seconds, 60, "second", of: nil)
        if masks.minutes == CronMasks.allSeconds { return "\(part) of every minute \(hourPart)" }
        return "\(part) of \(Self.values(minutes, "minute")) \(hourPart)"
    }

    /// The times of expressions without seconds.
    private var minuteTimes: String {
        let everyHour = masks.hours == CronMasks.allHours
        if everyHour { return Self.steps(minutes, 60, "minute", of: "hour") }
        if minutes.count == 1 {
            if let hourly = hourlyTimes(minute: minutes[0]) { return hourly }
            if hours.count <= 12 { return listedTimes }
        }
        if hours.count * minutes.count <= 6 { return listedTimes }
        if minutes.count > 1, hourRuns.count <= 3, let step = Self.evenStep(minutes, 60),
            let end = minutes.last
        {
            let runs = hourRuns.map {
                "from \(Self.clock($0.first, minutes[0])) through \(Self.clock($0.last, end))"
            }
            return (step == 1 ? "every minute " : "every \(step) minutes ") + Self.join(runs)
        }
        if masks.minutes == CronMasks.allSeconds { return "every minute \(hourPart)" }
        return "\(Self.steps(minutes, 60, "minute", of: nil)) \(hourPart)"
    }

    /// A few times written out: `at 09:00, 13:00 and 17:00`.
    private var listedTimes: String {
        let second = masks.seconds == 1 ? nil : seconds.first
        return "at "
            + Self.join(
                hours.flatMap { hour in minutes.map { Self.clock(hour, $0, second) } })
    }

    private func hourlyTimes(minute: Int) -> String? {
        guard hours.count > 2, let first = hours.first, let last = hours.last else { return nil }
        if hourRuns.count == 1, let run = hourRuns.first {
            return "every hour from \(Self.clock(run.first, minute)) through \(Self.clock(run.last, minute))"
        }
        guard let step = Self.step(hours) else { return nil }
        let range = "from \(Self.clock(first, minute)) through \(Self.clock(last, minute))"
        // Round the clock only when the last step over midnight is as long as the others.
        return first + 24 - last == step && first == 0 && minute == 0
            ? "every \(step) hours from 00:00" : hours.count > 4 ? "every \(step) hours \(range)" : nil
    }

    /// The hours in stretches; one over midnight is whole only where every day has it, for else its two parts
    /// belong to different days.
    private var hourRuns: [(first: Int, last: Int)] {
        var runs: [(first: Int, last: Int)] = []
        for hour in hours {
            if let last = runs.last?.last, last + 1 == hour {
                runs[runs.count - 1].last = hour
            } else {
                runs.append((hour, hour))
            }
        }
        let isAnyDay =
            masks.hasAnyMonthDay && masks.hasAnyWeekday && masks.months == CronMasks.allMonths
            && masks.years.isAll
        if isAnyDay, runs.count > 1, let early = runs.first, early.first == 0, runs.last?.last == 23 {
            runs.removeFirst()
            runs[runs.count - 1].last = early.last
        }
        return runs
    }

    private var hourPart: String {
        if masks.hours == CronMasks.allHours { return "of every hour" }
        if let first = hours.first, let last = hours.last, hours.count > 2, last - first + 1 == hours.count {
            return "of the hours \(first) through \(last)"
        }
        return hours.count == 1 ? "of hour \(hours[0])" : "of the hours \(Self.join(Self.ranges(hours)))"
    }

    // MARK: Lists and steps

    /// The distance of values that are all equally far apart.
    static func step(_ values: [Int]) -> Int? {
        guard values.count > 1 else { return nil }
        let step = values[1] - values[0]
        return zip(values, values.dropFirst()).allSatisfy { $1 - $0 == step } ? step : nil
    }

    /// The step of values that come equally often for ever, from 0 on.
    static func evenStep(_ values: [Int], _ cycle: Int) -> Int? {
        guard let step = step(values), values[0] == 0, cycle % step == 0, values.count == cycle / step else {
            return nil
        }
        return step
    }

    private static func steps(_ values: [Int], _ cycle: Int, _ unit: String, of whole: String?) -> String {
        let suffix = whole.map { " of every \($0)" } ?? ""
        if let step = evenStep(values, cycle) {
            if step == 1 { return "every \(unit)" }
            return whole == nil ? "every \(step) \(unit)s" : "every \(step) \(unit)s"
        }
        if values == [0], whole != nil, unit == "minute" { return "every hour" }
        return "at " + Self.values(values, unit) + suffix
    }

    /// `minute 5`, `minutes 5 and 20`, `minutes 5 through 9`, `every 7th minute from 0 through 56`.
    static func values(_ values: [Int], _ unit: String) -> String {
        if values.count == 1 { return "\(unit) \(values[0])" }
        if values.count > 5, let step = step(values), step > 1, let last = values.last {
            return "every \(ordinal(step)) \(unit) from \(values[0]) through \(last)"
        }
        return "\(unit)s " + join(ranges(values).map { $0 })
    }

    /// Values as text, three and more in a row as `a through b`.
    static func ranges(
        _ values: [Int], by separator: String = " through ", name: (Int) -> String = { String($0) }
    ) -> [String] {
        var parts: [String] = []
        var rest = values[...]
        while let start = rest.popFirst() {
            var end = start
            while rest.first == end + 1 { end = rest.removeFirst() }
            switch end - start {
            case 0: parts.append(name(start))
            case 1: parts += [name(start), name(end)]
            default: parts.append(name(start) + separator + name(end))
            }
        }
        return parts
    }

    static func join(_ parts: [String], _ word: String = "and") -> String {
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " \(word) " + last
    }

    static func ordinal(_ number: Int) -> String {
        switch (number % 10, number % 100) {
        case (_, 11...13): "\(number)th"
        case (1, _): "\(number)st"
        case (2, _): "\(number)nd"
        case (3, _): "\(number)rd"
        default: "\(number)th"
        }
    }

    static func clock(_ hour: Int, _ minute: Int, _ second: Int? = nil) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return two(hour) + ":" + two(minute) + (second.map { ":" + two($0) } ?? "")
    }
}

extension CronWords {
    /// Days, months and years, where not all of them match.
    private var dates: [String] {
        if let days = daysOfOneMonth ?? daysOfSomeMonths { return [days] + years }
        if let days = weekdaysAmongDays {
            let calendar = (months + years).joined(separator: " ")
            return calendar.isEmpty ? [days + monthSuffix] : [calendar + ",", days]
        }
        if !masks.hasAnyMonthDay, !masks.hasAnyWeekday, !(months + years).isEmpty, masks.hasAnyDate {
            // Behind "or on Monday" the month would seem to be the Mondays' alone.
            return [(months + years).joined(separator: " ") + ",", days]
        }
        return (days.isEmpty ? [] : [days]) + months + years
    }

    /// Which days, or nothing when the times say enough.
    private var days: String {
        let byDate = monthDayParts
        let byWeekday = weekdayParts
        switch (masks.hasAnyMonthDay, masks.hasAnyWeekday) {
        case (true, true):
            return isEveryDaySaid ? "every day" : ""
        case (false, true):
            return byDate
        case (true, false):
            return byWeekday
        case (false, false):
            return masks.eitherDay
                ? "\(byDate) or \(byWeekday)" : "\(byDate) and only when that is \(byWeekday)"
        }
    }

    /// The days that are nothing but dates and no regular step; nil where the days are anything else.
    private var plainDates: [Int]? {
        let days = CanonicalFields.places(masks.monthDays)
        let isPlain =
            masks.hasAnyWeekday && !masks.hasAnyMonthDay && !days.isEmpty && !masks.hasMonthDayForms
            && !CronWords.values(days, "day").hasPrefix("every")
        return isPlain ? days : nil
    }

    /// `on the 1st of January and July`, `on the 1st and 15th of each month from June through August`.
    private var daysOfSomeMonths: String? {
        guard let days = plainDates, masks.months != CronMasks.allMonths else { return nil }
        let months = CanonicalFields.places(masks.months)
        let names = months.map { CronNames.months[$0 - 1] }
        let isRun = months.count > 3 && CronWords.step(months) == 1
        let list =
            isRun ? "each month from \(names[0]) through \(names[names.count - 1])" : CronWords.join(names)
        return "on the \(CronWords.join(CronWords.ranges(days, name: CronWords.ordinal))) of \(list)"
    }

    /// `on 1 January`, `on 1 through 7 May`: dates of one month.
    private var daysOfOneMonth: String? {
        guard let days = plainDates, masks.months.nonzeroBitCount == 1 else { return nil }
        let month = CronNames.months[masks.months.trailingZeroBitCount - 1]
        return "on \(CronWords.join(CronWords.ranges(days))) \(month)"
    }

    /// `on the Mondays to Wednesdays among days 27-31`: several days of the month that must be of the week too.
    private var weekdaysAmongDays: String? {
        let days = CanonicalFields.places(masks.monthDays)
        guard !masks.eitherDay, !masks.hasAnyMonthDay, !masks.hasAnyWeekday, masks.hasPlainWeekdaysOnly,
            !masks.hasMonthDayForms, days.count > 1, !CronWords.values(days, "day").hasPrefix("every")
        else { return nil }
        // The week begins on Monday here, so that a weekend is one run.
        let places = CanonicalFields.places(masks.plainWeekdays).map { $0 == 0 ? 7 : $0 }.sorted()
        let names = CronWords.ranges(places, by: " to ") { CronNames.weekdays[$0 % 7] + "s" }
        let dates = CronWords.ranges(days, by: "-")
        return "on the \(CronWords.join(names)) among days \(CronWords.join(dates))"
    }

    /// In which months, where not in all.
    private var months: [String] {
        guard masks.months != CronMasks.allMonths else { return [] }
        let months = CanonicalFields.places(masks.months)
        if months.count > 3, let step = CronWords.step(months), step > 1 {
            return ["in " + CronWords.join(months.map { CronNames.months[$0 - 1] })]
        }
        return ["in " + CronWords.join(CronWords.ranges(months) { CronNames.months[$0 - 1] })]
    }

    /// In which years, where not in all.
    private var years: [String] {
        guard !masks.years.isAll else { return [] }
        let years = masks.years.years
        if years.count > 3, let step = CronWords.step(years), step > 1, let last = years.last {
            return ["in every \(CronWords.ordinal(step)) year from \(years[0]) through \(last)"]
        }
        return ["in " + CronWords.join(CronWords.ranges(years))]
    }

    /// Whether "every day" adds something: not after "every 15 minutes".
    private var isEveryDaySaid: Bool {
        masks.months == CronMasks.allMonths && masks.hours != CronMasks.allHours
    }

    private var monthSuffix: String { masks.months == CronMasks.allMonths ? " of the month" : "" }

    private var monthDayParts: String {
        var parts: [String] = []
        let days = CanonicalFields.places(masks.monthDays)
        if !days.isEmpty { parts.append("on " + CronWords.values(days, "day") + monthSuffix) }
        for before in CanonicalFields.places(masks.lastDays) {
            parts.append("on the \(lastDay(before))\(monthSuffix)")
        }
        for day in CanonicalFields.places(masks.nearestDays) {
            // No working day of the month before can be the nearest.
            parts.append(
                day == 1
                    ? "on the first working day\(monthSuffix)"
                    : "on the working day nearest to day \(day)\(monthSuffix)")
        }
        for before in CanonicalFields.places(masks.nearestLastDays) {
            parts.append(
                before == 0
                    ? "on the last working day\(monthSuffix)"
                    : "on the working day nearest to the \(lastDay(before))\(monthSuffix)")
        }
        return CronWords.join(parts, "and")
    }

    private func lastDay(_ before: Int) -> String {
        switch before {
        case 0: "last day"
        case 1: "day before the last day"
        default: "\(CronWords.ordinal(before)) day before the last day"
        }
    }

    private var weekdayParts: String {
        // With both day fields set the weekday is what the date must be: "a Monday", not "on Monday".
        let isCondition = !masks.hasAnyMonthDay && !masks.eitherDay
        let lead = isCondition ? "" : "on "
        var weekly: UInt64 = 0x7F
        for week in 0..<5 { weekly &= masks.nthWeekdays >> UInt64(week * 7) }
        var parts: [String] = []
        if weekly != 0 {
            let names = weekdayNames(weekly)
            parts.append(isCondition ? "a " + CronWords.join(names, "or") : lead + CronWords.join(names))
        }
        for place in CanonicalFields.places(masks.nthWeekdays) where weekly >> UInt64(place % 7) & 1 == 0 {
            let nth = CronWords.ordinal(place / 7 + 1)
            parts.append("\(lead)the \(nth) \(CronNames.weekdays[place % 7])\(monthSuffix)")
        }
        for day in CanonicalFields.places(masks.lastWeekdays) {
            parts.append("\(lead)the last \(CronNames.weekdays[day])\(monthSuffix)")
        }
        return CronWords.join(parts, isCondition ? "or" : "and")
    }

    private func weekdayNames(_ weekdays: UInt64) -> [String] {
        // The week begins on Monday here, so that a weekend is one run.
        let places = CanonicalFields.places(weekdays).map { $0 == 0 ? 7 : $0 }.sorted()
        let isCondition = !masks.hasAnyMonthDay && !masks.eitherDay
        if isCondition { return places.map { CronNames.weekdays[$0 % 7] } }
        return CronWords.ranges(places) { CronNames.weekdays[$0 % 7] }
    }
}

extension CronExpression {
    /// What is true of its dates and easily overlooked, a sentence each without a full stop.
    ///
    /// Unlike a ``CronWarning`` none of it is likely to be a mistake.
    public var notes: [String] {
        let masks = plan.masks
        let days = CanonicalFields.places(masks.monthDays)
        guard !neverFires, !days.isEmpty, !masks.hasAnyMonthDay, !masks.hasMonthDayForms, !masks.eitherDay
        else {
            return []
        }
        let months = CanonicalFields.places(masks.months)
        if days == [29], months == [2] { return ["29 February comes in leap years only"] }
        return Self.shortMonths(days, months) + Self.leapDay(days, months) + Self.restart(days)
    }

    /// Of `0 0 31 * *`: months that have none of the days.
    private static func shortMonths(_ days: [Int], _ months: [Int]) -> [String] {
        guard let first = days.first else { return [] }
        let short = months.filter { CivilDate.days(inMonth: $0, of: 2024) < first }
        guard !short.isEmpty else { return [] }
        let names = CronWords.join(short.map { CronNames.months[$0 - 1] })
        let pronoun = short.count == 1 ? "has" : "have"
        return ["nothing runs in \(names), which \(pronoun) no day \(first)"]
    }

    /// Of `0 0 29 * *`: February without its 29th.
    private static func leapDay(_ days: [Int], _ months: [Int]) -> [String] {
        days.first == 29 && months.contains(2) ? ["nothing runs in February, except in leap years"] : []
    }

    /// Of `*/2` days: the step from the last day of a month to the first of the next.
    private static func restart(_ days: [Int]) -> [String] {
        guard days.first == 1, days.count > 2, let last = days.last, let step = CronWords.step(days),
            step > 1,
            last + step > 31
        else { return [] }
        let end = CronWords.ordinal(last)
        return [
            "the count starts again each month: the \(end) is followed by the 1st; "
                + "only the phrase \"every \(step) days\" counts through"
        ]
    }
}
