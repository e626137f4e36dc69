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
