import Timeline

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
