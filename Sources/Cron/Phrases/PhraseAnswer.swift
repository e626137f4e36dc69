public import Timeline

/// What the clauses of a phrase said, before it is known whether a schedule can say it.
struct PhraseMeaning {
    struct Interval {
        var count: Int
        var unit: PhraseWords.Unit
        var range: Range<Int>
    }

    struct Time: Hashable {
        var hour: Int
        var minute = 0
        var second = 0
        /// An hour from 1 to 12 without am or pm, which "evening" makes one after noon.
        var isOpen = false
        /// Am, pm or the part of the day was said with it.
        var isHalved = false
        /// A number alone: `9`, not `9:00`.
        var isBare = false
    }

    struct Window {
        var from: Time
        var to: Time?
        /// "through 17:45": the end itself is meant too.
        var isInclusive: Bool
        var range: Range<Int>
    }

    /// A day that comes once.
    enum Once {
        case today
        case tomorrow
        case next(weekday: Int)
        case this(weekday: Int)
        case date(CivilDate)
        case later(Duration)
    }

    enum Join {
        case or
        case and
    }

    var interval: Interval?
    /// "every day" beside an interval that is shorter.
    var isEveryDay = false
    var times: [Time] = []
    var timesRange = 0..<0
    /// "morning", "afternoon", "evening" or "night", and where it stands.
    var partOfDay: (word: String, range: Range<Int>)?
    var minuteMarks: UInt64 = 0
    var window: Window?
    /// Where counting days or weeks begins, and where the phrase says so.
    var firstDay: (date: CivilDate, range: Range<Int>)?
    /// An hour from 12 to 5 that was said to be at night.
    var smallHours: Range<Int>?
    var weekdays: UInt64 = 0
    /// Terms of the day-of-week field such as `5#2`.
    var weekdayForms: [String] = []
    var monthDays: UInt64 = 0
    /// Terms of the day-of-month field such as `LW`.
    var monthDayForms: [String] = []
    var join: Join?
    var months: UInt64 = 0
    /// A month and a day without a word that says how often.
    var bareDate: Range<Int>?
    var once: Once?
    /// What stands for ``once`` in the phrase.
    var onceRange = 0..<0
    /// The days of the week that "except" takes out, and where it says so.
    var exceptions: (weekdays: UInt64, range: Range<Int>)?
    /// A schedule that is not of the calendar.
    var event: Schedule?
    /// The zone that is named, such as that of `in Berlin`.
    var zone: ZoneRules?
    /// How many times `twice a day` asks for, and why it is refused unless they are named.
    var timesADay: (count: Int, refusal: CronError)?
    /// `biweekly`, which means every two weeks only beside one day of the week.
    var biweekly: Range<Int>?
    /// `the end of the month`, which needs a time to be one day.
    var monthEnd: Range<Int>?
    /// Whether a time was written as "midnight".
    var saysMidnight = false

    /// Whether it is every so many days or weeks, more than one.
    var countsDays: Bool {
        guard let interval, interval.count > 1 else { return false }
        return interval.unit == .day || interval.unit == .week
    }

    var hasWeekdays: Bool { weekdays != 0 || !weekdayForms.isEmpty }
    var hasMonthDays: Bool { monthDays != 0 || !monthDayForms.isEmpty }
}

extension Schedule {
    /// The schedule that a phrase such as `every weekday at 9:30` or `in 20 minutes` asks for.
    ///
    /// Hours without am or pm are those of a 24-hour clock, except at night, where 12 and 1 to 5 are midnight and
    /// the hours after it. A day without a time begins at midnight. Limits such as `between 9 and 17` never include
    /// their end; `through 17` does. What no expression can say becomes a calendar, a grid or a moment
    /// (`every other day at 6pm`), what one expression cannot say becomes several (`at 9, 13:00 and 17:30`), or it is
    /// refused with the reason; so is a phrase that is only half understood, or
    /// that people read in two ways.
    ///
    /// - Parameters:
    ///   - phrase: At most 256 bytes of English.
    ///   - now: What "tomorrow" and "in 20 minutes" start from; also the anchor of grids.
    ///   - zone: Whose days and hours are meant; its name becomes the schedule's.
    /// - Throws: ``CronError`` with the words that were not understood.
    public init(phrase: String, now: Moment, in zone: ZoneRules) throws(CronError) {
        self = try PhraseAnswer(phrase, now: now, in: zone).schedule
    }
}

/// What a phrase asks for, and how the parts were understood that people may mean otherwise.
package struct PhraseAnswer: Sendable {
    /// The schedule; a list for `at 9, 13:00 and 17:30`, which no single expression has.
    package let schedule: Schedule

    /// The zone of the schedule: the one that the phrase names, else the one given beside it.
    package let zone: ZoneRules

    /// Whether the phrase names its zone.
    package let namesZone: Bool

    /// How limits such as `between 9 and 17` were understood, and what stands for a time or a day that is not named.
    package let notes: [String]

    /// The notes as one line; `nil` when there are none.
    package var note: String? { notes.isEmpty ? nil : notes.joined(separator: "; ") }

    /// Whether the phrase names the first day of a calendar, so that it means the same whenever it is read.
    package let namesFirstDay: Bool

    /// Reads a phrase as `Schedule.init(phrase:now:in:)` does.
    ///
    /// - Parameters:
    ///   - phrase: At most 256 bytes of English.
    ///   - now: What "tomorrow" and "in 20 minutes" start from; also the anchor of grids.
    ///   - zone: The zone of a phrase that names none.
    ///   - zones: The zones that a phrase may name, as in `every day at 8:30 in Berlin`.
    /// - Throws: ``CronError`` with the words that were not understood, or all readings of a phrase that has several.
    package init(
        _ phrase: String, now: Moment, in zone: ZoneRules, zones: PhraseZones = .none
    ) throws(CronError) {
        var reader = PhraseReader(phrase, zones: zones.given(zone, now: now))
        var meaning = try reader.read()
        let isDailyByDefault = meaning.times.count > 1 && meaning.hasNoDays
        if isDailyByDefault { meaning.interval = .init(count: 1, unit: .day, range: meaning.timesRange) }
        let rules = meaning.zone ?? zone
        func compose(_ meaning: PhraseMeaning) throws(CronError) -> Schedule {
            try PhraseComposer(phrase: phrase, meaning: meaning, zoneName: rules.name, zone: rules, now: now)
                .schedule()
        }
        var schedules: [Schedule] = []
        for times in meaning.expressibleTimes {
            var part = meaning
            part.times = times
            schedules.append(try compose(part))
        }
        if schedules.count == 1 {
            schedule = schedules[0]
        } else {
            do throws(ScheduleListError) {
                schedule = .several(try ScheduleList(schedules))
            } catch {
                throw CronError(
                    text: phrase,
                    CronFault(
                        .notExpressible, at: meaning.timesRange,
                        "these times need \(schedules.count) expressions, and \(error.message)",
                        fix: error.fix))
            }
        }
        self.zone = rules
        namesZone = meaning.zone != nil
        namesFirstDay = meaning.firstDay != nil
        notes = (isDailyByDefault ? ["every day, as no day is named"] : []) + meaning.notes
    }
}

extension PhraseMeaning {
    /// Whether nothing in it says on which days.
    fileprivate var hasNoDays: Bool {
        interval == nil && once == nil && event == nil && window == nil && minuteMarks == 0 && months == 0
            && !hasWeekdays && !hasMonthDays
    }

    /// The times in lists of which one expression each can say all: those with the same hours, or the same minutes.
    fileprivate var expressibleTimes: [[Time]] {
        let isRepeated = once == nil && event == nil && !countsDays
        let products =
            Set(times.map(\.hour)).count * Set(times.map(\.minute)).count * Set(times.map(\.second)).count
        guard isRepeated, products != Set(times).count else { return [times] }
        var lists: [[Time]] = []
        for time in times {
            let place = lists.firstIndex { $0[0].minute == time.minute && $0[0].second == time.second }
            if let place { lists[place].append(time) } else { lists.append([time]) }
        }
        return lists
    }

    /// What a reader may have meant otherwise.
    fileprivate var notes: [String] {
        var notes: [String] = []
        if let window, let to = window.to {
            let clock = CronWords.clock(to.hour, to.minute)
            notes.append(
                window.isInclusive
                    ? "\(clock) is included" : "\(clock) is not included; \"through\" would include it")
        }
        guard event == nil else { return notes }
        if once == nil, interval?.unit.isLong ?? true {
            switch interval?.unit {
            case .week where !hasWeekdays && !countsDays: notes.append("on Sunday, as no day is named")
            case .month where !hasMonthDays && !hasWeekdays: notes.append("on the 1st, as no day is named")
            case .year where !hasMonthDays && !hasWeekdays: notes.append("on 1 January, as no day is named")
            default: break
            }
            if times.isEmpty, minuteMarks == 0 { notes.append("at 00:00, as no time is named") }
        }
        if saysMidnight, hasWeekdays || hasMonthDays || once != nil {
            notes.append("midnight is 00:00, where that day begins")
        }
        return notes
    }
}
