import Timeline

/// Turns what a phrase said into the schedule that says it, or the reason why none does.
struct PhraseComposer {
    let phrase: String
    let meaning: PhraseMeaning
    let zoneName: String
    let zone: ZoneRules
    let now: Moment

    var whole: Range<Int> { 0..<phrase.utf8.count }

    /// What was understood, but no schedule can say.
    func refusal(_ message: String, at range: Range<Int>? = nil, fix: String? = nil) -> CronError {
        CronError(text: phrase, CronFault(.notExpressible, at: range ?? whole, message, fix: fix))
    }

    /// What can be meant in more than one way, or lacks a part.
    func doubt(_ message: String, at range: Range<Int>? = nil, fix: String? = nil) -> CronError {
        CronError(text: phrase, CronFault(.notUnderstood, at: range ?? whole, message, fix: fix))
    }

    func schedule() throws(CronError) -> Schedule {
        if let event = meaning.event { return event }
        if let once = meaning.once { return .at(try moment(of: once)) }
        if let range = meaning.bareDate, meaning.interval?.unit != .year {
            throw doubt(
                "whether this is meant once or every year is not said", at: range,
                fix: "say every, or write the year: 2027-12-24")
        }
        if meaning.hasMonthDays, meaning.hasWeekdays, meaning.join == nil {
            throw doubt(
                "how the day of the month and the day of the week combine is not said",
                fix: "say OR, or say AND only when that is a Friday")
        }
        if let first = meaning.firstDay, !meaning.countsDays {
            throw doubt(
                "a first day belongs to every so many days or weeks", at: first.range,
                fix: "say every other friday, or every 3 days")
        }
        if let interval = meaning.interval { return try schedule(of: interval) }
        return try expression(times: try timeFields(orMidnight: hasDays))
    }

    var hasDays: Bool { meaning.hasWeekdays || meaning.hasMonthDays || meaning.months != 0 }

    // MARK: Once

    func moment(of once: PhraseMeaning.Once) throws(CronError) -> Moment {
        guard meaning.interval == nil, !hasDays, meaning.window == nil, meaning.minuteMarks == 0,
            meaning.firstDay == nil
        else {
            throw doubt("it cannot be once and again and again")
        }
        let today = CivilTime(now, in: zone).date
        var date = today
        switch once {
        case .later(let duration):
            guard meaning.times.isEmpty else {
                throw doubt("a while from now has its own time", at: meaning.timesRange)
            }
            return now + duration
        case .today: break
        case .tomorrow: date = CivilDate(daysSinceEpoch: today.daysSinceEpoch + 1)
        case .next(let weekday):
            let distance = (weekday - today.weekday + 6) % 7 + 1
            date = CivilDate(daysSinceEpoch: today.daysSinceEpoch + distance)
            guard Self.week(of: date) != Self.week(of: today) else {
                let later = CivilDate(daysSinceEpoch: date.daysSinceEpoch + 7)
                throw doubt(
                    "it can be the one of this week or of the next", at: meaning.onceRange,
                    fix: "write \(date.iso8601) or \(later.iso8601)")
            }
        case .this(let weekday):
            let monday = Self.week(of: today) * 7 - 3
            date = CivilDate(daysSinceEpoch: monday + (weekday + 6) % 7)
        case .date(let named): date = named
        }
        guard let time = meaning.times.first, meaning.times.count == 1 else {
            throw doubt(
                meaning.times.isEmpty ? "the time of that day is not said" : "once is one time",
                fix: "add at 9")
        }
        let local = CivilTime(date, hour: time.hour, minute: time.minute, second: time.second)
        let moment = zone.instants(of: local).first
        guard moment > now else { throw doubt("that moment is in the past") }
        return moment
    }

    /// Weeks from Monday to Sunday, the one of 1970-01-01 being 0; day `7n - 3` begins week n.
    private static func week(of date: CivilDate) -> Int {
        let day = date.daysSinceEpoch + 3
        return (day - (day % 7 + 7) % 7) / 7
    }

    // MARK: Fields

    /// Minute and hour, with the second before them when there is one.
    func timeFields(orMidnight: Bool) throws(CronError) -> String {
        if let window = meaning.window {
            throw doubt("how often between these limits is not said", at: window.range)
        }
        if meaning.minuteMarks != 0 {
            guard meaning.times.isEmpty else {
                throw doubt("times and minutes of every hour contradict each other")
            }
            return CanonicalFields.list(meaning.minuteMarks, .minute, canStar: false) + " *"
        }
        guard !meaning.times.isEmpty else {
            let isMonthOnly = meaning.interval == nil && !meaning.hasWeekdays && !meaning.hasMonthDays
            guard orMidnight, !isMonthOnly else {
                throw doubt("when is not said", fix: "add a time, such as at 9")
            }
            return "0 0"
        }
        guard meaning.interval != nil || hasDays else {
            throw doubt(
                "how often is not said", fix: "say every day, today or tomorrow")
        }
        let hours = Set(meaning.times.map(\.hour))
        let minutes = Set(meaning.times.map(\.minute))
        let seconds = Set(meaning.times.map(\.second))
        guard hours.count * minutes.count * seconds.count == Set(meaning.times).count else {
            throw refusal(
                "one expression has the same minutes in all its hours", at: meaning.timesRange,
                fix: "make one schedule for each time")
        }
        func list(_ values: Set<Int>, _ field: CronField) -> String {
            CanonicalFields.list(values.reduce(0) { $0 | 1 << UInt64($1) }, field, canStar: false)
        }
        let fields = "\(list(minutes, .minute)) \(list(hours, .hour))"
        return seconds == [0] ? fields : "\(list(seconds, .second)) \(fields)"
    }

    /// The expression of these times on the days of the phrase, or on those given.
    func expression(
        times: String, monthDays: String? = nil, months: String? = nil, weekdays: String? = nil
    ) throws(CronError) -> Schedule {
        var dates = meaning.monthDayForms
        if meaning.monthDays != 0 {
            dates.insert(CanonicalFields.list(meaning.monthDays, .dayOfMonth, canStar: false), at: 0)
        }
        var days = meaning.weekdayForms
        if meaning.weekdays != 0 {
            days.insert(CanonicalFields.list(meaning.weekdays, .dayOfWeek, canStar: false), at: 0)
        }
        let fields = [
            times, monthDays ?? (dates.isEmpty ? "*" : dates.joined(separator: ",")),
            months
                ?? (meaning.months == 0 ? "*" : CanonicalFields.list(meaning.months, .month, canStar: false)),
            weekdays
                ?? (days.isEmpty ? "*" : (meaning.join == .and ? "+" : "") + days.joined(separator: ",")),
        ].joined(separator: " ")
        let expression: CronExpression
        do {
            expression = try CronExpression(fields, options: CronOptions(isLenient: dates.count > 1))
        } catch {
            throw refusal("no expression says this (\(error))")
        }
        guard !expression.neverFires else { throw refusal("there is no such date, so it would never fire") }
        return .cron(expression, zone: zoneName)
    }
}

extension PhraseComposer {
    /// What `every ...` becomes: an expression, or a grid where no expression can say it.
    func schedule(of interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        var (count, unit) = (interval.count, interval.unit)
        // 90 seconds stay seconds, 120 are 2 minutes, 24 hours stay hours.
        if unit == .second, count % 60 == 0 { (count, unit) = (count / 60, .minute) }
        if unit == .minute, count % 60 == 0 { (count, unit) = (count / 60, .hour) }
        switch unit {
        case .second: return try seconds(count, interval)
        case .minute: return try minutes(count, interval)
        case .hour: return try hours(count, interval)
        case .day: return try everyDays(count, interval)
        case .week: return try weeks(count, interval)
        case .month: return try months(count, interval)
        case .year: return try years(count, interval)
        }
    }

    private func seconds(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        guard count < 60, 60 % count == 0 else {
            return try grid(count, interval, "\(count) seconds do not divide a minute")
        }
        guard meaning.times.isEmpty, meaning.minuteMarks == 0 else { throw contradiction(interval) }
        let second = count == 1 ? "*" : "*/\(count)"
        let hours = try meaning.window.map { window throws(CronError) in try wholeHours(window) } ?? "*"
        return try expression(times: "\(second) * \(hours)")
    }

    private func minutes(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        guard count < 60, 60 % count == 0 else {
            return try grid(count * 60, interval, "\(count) minutes do not divide an hour")
        }
        if meaning.minuteMarks == 0, let time = meaning.times.first, meaning.times.count == 1 {
            let hour = CronWords.clock(time.hour, time.minute)
            throw doubt(
                "this can be once at \(hour), or all through an hour of the day", at: meaning.timesRange,
                fix:
                    "say every day at \(hour), or every \(count) minutes between \(time.hour) and \((time.hour + 1) % 24)"
            )
        }
        guard meaning.times.isEmpty, meaning.minuteMarks == 0 else { throw contradiction(interval) }
        let minute = count == 1 ? "*" : "*/\(count)"
        guard let window = meaning.window else { return try expression(times: "\(minute) *") }
        if window.isInclusive, let to = window.to {
            guard window.from.minute == 0, window.from.second == 0, to.minute == 60 - count, to.second == 0
            else {
                throw refusal(
                    "every \(count) minutes through \(CronWords.clock(to.hour, to.minute)) is not one expression",
                    at: window.range, fix: "say until \(to.hour + 1), or make two schedules")
            }
            guard window.from.hour > to.hour else {
                return try expression(times: "\(minute) \(window.from.hour)-\(to.hour)")
            }
            try requireAnyDay(window)
            return try expression(times: "\(minute) \(window.from.hour)-23,0-\(to.hour)")
        }
        return try expression(times: "\(minute) \(wholeHours(window))")
    }

    /// The hours from one full hour up to, not including, another.
    private func wholeHours(_ window: PhraseMeaning.Window) throws(CronError) -> String {
        guard let to = window.to else { throw doubt("until when is not said", at: window.range) }
        guard window.from.minute == 0, to.minute == 0, window.from.second == 0, to.second == 0 else {
            throw refusal(
                "limits inside an hour cannot be said in one expression", at: window.range,
                fix: "use full hours, or make two schedules")
        }
        let end = to.hour == 0 ? 23 : to.hour - 1
        guard !window.isInclusive, window.from.hour != to.hour else {
            throw refusal("\(CronWords.clock(to.hour, 0)) itself needs a second schedule", at: window.range)
        }
        if window.from.hour <= end { return "\(window.from.hour)-\(end)" }
        try requireAnyDay(window)
        return "\(window.from.hour)-23,0-\(end)"
    }

    private func hours(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        if let time = meaning.times.first, meaning.times.count == 1, time.isBare, count == 1 {
            throw doubt(
                "this can be minute \(time.hour) of every hour, or \(CronWords.clock(time.hour, 0))",
                at: meaning.timesRange,
                fix: "write :\(time.hour < 10 ? "0" : "")\(time.hour), or every day at \(time.hour)")
        }
        guard meaning.times.isEmpty else { throw contradiction(interval) }
        guard meaning.minuteMarks == 0 || meaning.window == nil else { throw contradiction(interval) }
        let marks = CanonicalFields.list(max(meaning.minuteMarks, 1), .minute, canStar: false)
        guard let window = meaning.window else {
            guard count < 24, 24 % count == 0 else {
                return try grid(count * 3600, interval, "\(count) hours do not divide a day")
            }
            return try expression(times: "\(marks) \(count == 1 ? "*" : "*/\(count)")")
        }
        let from = window.from
        guard from.second == 0 else { throw refusal("seconds are too fine here", at: window.range) }
        guard let to = window.to else {
            guard from.hour == 0, from.minute == 0, 24 % count == 0 else {
                throw doubt("until when is not said", at: window.range)
            }
            return try expression(times: "0 \(count == 1 ? "*" : "*/\(count)")")
        }
        guard to.second == 0 else { throw refusal("seconds are too fine here", at: window.range) }
        let span = (to.hour * 60 + to.minute - from.hour * 60 - from.minute + 1440) % 1440
        guard span > 0 else { throw doubt("both limits are the same", at: window.range) }
        // "through 17:30" must be one of the times.
        guard !window.isInclusive || span % (count * 60) == 0 else {
            throw refusal("\(CronWords.clock(to.hour, to.minute)) is not one of the times", at: window.range)
        }
        let steps = (window.isInclusive ? span : span - 1) / (count * 60)
        if from.hour + steps * count > 23 { try requireAnyDay(window) }
        let hours = (0...steps).reduce(UInt64(0)) { $0 | 1 << UInt64((from.hour + $1 * count) % 24) }
        return try expression(times: "\(from.minute) \(CanonicalFields.list(hours, .hour, canStar: false))")
    }

    /// Refuses limits over midnight on certain days: which day the small hours belong to is not said.
    private func requireAnyDay(_ window: PhraseMeaning.Window) throws(CronError) {
        guard hasDays else { return }
        throw doubt(
            "whose small hours are meant is not said", at: window.range,
            fix: "make a schedule up to midnight and one after it")
    }

    /// Every so many seconds of elapsed time, for what no calendar can say.
    private func grid(
        _ seconds: Int, _ interval: PhraseMeaning.Interval, _ reason: String
    ) throws(CronError) -> Schedule {
        guard meaning.times.isEmpty, meaning.window == nil, meaning.minuteMarks == 0, !hasDays,
            !meaning.isEveryDay
        else {
            throw refusal(reason + ", so limits beside it cannot be said", at: interval.range)
        }
        return .every(.seconds(seconds), anchor: now)
    }

    private func everyDays(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        guard count == 1 else {
            guard !hasDays, meaning.window == nil, meaning.minuteMarks == 0 else {
                throw refusal("every \(count) days beside other days cannot be said", at: interval.range)
            }
            // Weeks have a day, and days that make up whole weeks have the one they begin with.
            return try calendar(count, weekday: nil, interval)
        }
        guard !meaning.hasWeekdays, !meaning.hasMonthDays else {
            throw doubt("every day and certain days contradict each other", at: interval.range)
        }
        return try expression(times: try timeFields(orMidnight: true))
    }

    private func weeks(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        guard !meaning.hasMonthDays, meaning.weekdayForms.isEmpty, meaning.months == 0 || count == 1 else {
            throw contradiction(interval)
        }
        guard count > 1 else {
            let weekdays = meaning.hasWeekdays ? nil : "0"
            return try expression(times: try timeFields(orMidnight: true), weekdays: weekdays)
        }
        let hasOneDay = meaning.weekdays.nonzeroBitCount == 1
        guard hasOneDay || meaning.weekdays == 0 && meaning.firstDay != nil, meaning.window == nil,
            meaning.minuteMarks == 0
        else {
            throw doubt(
                "every \(count) weeks needs one day of the week", at: interval.range,
                fix: "add on monday at 9")
        }
        return try calendar(
            count * 7, weekday: hasOneDay ? meaning.weekdays.trailingZeroBitCount : nil, interval)
    }

    /// Every so many days of the calendar, from the day named or else the next one that fits.
    private func calendar(
        _ days: Int, weekday: Int?, _ interval: PhraseMeaning.Interval
    ) throws(CronError) -> Schedule {
        guard meaning.times.count <= 1 else {
            throw refusal(
                "days that are counted have one time", at: meaning.timesRange,
                fix: "make one schedule for each time")
        }
        let time = meaning.times.first ?? .init(hour: 0)
        let rule = CalendarRule(
            days: days, weekday: weekday, secondOfDay: time.hour * 3600 + time.minute * 60 + time.second,
            first: meaning.firstDay?.date)
        if weekday != nil, let problem = rule.problem {
            throw doubt(problem.message, at: meaning.firstDay?.range ?? interval.range, fix: problem.fix)
        }
        guard let grid = rule.grid(after: now, in: zone) else {
            throw refusal("at most \(CalendarGrid.longest) days can be counted", at: interval.range)
        }
        return .calendar(grid, zone: zoneName)
    }

    private func months(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        if count == 12 { return try years(1, interval) }
        guard 12 % count == 0 else {
            throw refusal("\(count) months do not divide a year", at: interval.range)
        }
        guard meaning.months == 0, !meaning.hasWeekdays || !meaning.weekdayForms.isEmpty else {
            throw contradiction(interval)
        }
        return try expression(
            times: try timeFields(orMidnight: true), monthDays: hasDays ? nil : "1",
            months: count == 1 ? "*" : "*/\(count)")
    }

    private func years(_ count: Int, _ interval: PhraseMeaning.Interval) throws(CronError) -> Schedule {
        guard count == 1 else {
            throw doubt("which years are meant is not said", at: interval.range)
        }
        guard !hasDays || meaning.months != 0 && (meaning.hasMonthDays || meaning.hasWeekdays) else {
            throw doubt("which day of the year is not said", at: interval.range)
        }
        return try expression(
            times: try timeFields(orMidnight: true), monthDays: hasDays ? nil : "1",
            months: hasDays ? nil : "1")
    }

    private func contradiction(_ interval: PhraseMeaning.Interval) -> CronError {
        doubt(
            "this interval contradicts the rest", at: interval.range,
            fix: meaning.times.isEmpty ? nil : "name the times alone, or how often between two of them")
    }
}
