/// A day of the proleptic Gregorian calendar, without a zone.
///
/// The year 0 is 1 BC. Parts outside their range are not checked here; ``daysSinceEpoch`` of such a date is
/// the day that counting on gives (32 January is 1 February).
/// - Source: Howard Hinnant, chrono-compatible low-level date algorithms.
public struct CivilDate: Hashable, Comparable, Sendable {
    /// The year, negative before 1 BC.
    public var year: Int

    /// The month, 1 to 12.
    public var month: Int

    /// The day of the month, 1 to 31.
    public var day: Int

    /// The date of these parts.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date `days` after 1970-01-01.
    public init(daysSinceEpoch days: Int) {
        // Years begin on 1 March here, so that the leap day is the last one of its year.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Whole days since 1970-01-01; negative before it.
    public var daysSinceEpoch: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The day of the week, 0 is Sunday.
    public var weekday: Int {
        let remainder = (daysSinceEpoch + 4) % 7
        return remainder < 0 ? remainder + 7 : remainder
    }

    /// Whether `year` has a 29 February.
    public static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// The number of days of `month` (1 to 12) in `year`.
    public static func days(inMonth month: Int, of year: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : 30 + ((month + month >> 3) & 1)
    }

    /// Earlier days are smaller.
    public static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

/// A date and a time of day as a clock on a wall shows them, without a zone.
///
/// It becomes a ``Moment`` only together with ``ZoneRules``: a local time can be missing (the clock went
/// forward) or happen twice (the clock went back).
public struct CivilTime: Hashable, Comparable, Sendable {
    /// The day.
    public var date: CivilDate

    /// The hour, 0 to 23.
    public var hour: Int

    /// The minute, 0 to 59.
    public var minute: Int

    /// The second, 0 to 59; leap seconds do not exist here.
    public var second: Int

    /// The microsecond within the second, 0 to 999,999.
    public var microsecond: Int

    /// The local time of these parts.
    public init(_ date: CivilDate, hour: Int = 0, minute: Int = 0, second: Int = 0, microsecond: Int = 0) {
        self.date = date
        self.hour = hour
        self.minute = minute
        self.second = second
        self.microsecond = microsecond
    }

    /// The local time that a clock shows `seconds` after it showed 1970-01-01 00:00:00.
    public init(localSeconds seconds: Int64, microsecond: Int = 0) {
        var days = seconds / 86_400
        var rest = Int(seconds % 86_400)
        if rest < 0 {
            rest += 86_400
            days -= 1
        }
        date = CivilDate(daysSinceEpoch: Int(days))
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
        self.microsecond = microsecond
    }

    /// What a clock in `zone` shows at `moment`.
    public init(_ moment: Moment, in zone: ZoneRules = .utc) {
        let seconds = moment.seconds
        self.init(
            localSeconds: seconds + Int64(zone.offsetSeconds(at: moment)),
            microsecond: Int(moment.microseconds - seconds * 1_000_000))
    }

    /// Whole seconds since a clock showed 1970-01-01 00:00:00, as if it had never been moved.
    public var localSeconds: Int64 {
        Int64(date.daysSinceEpoch) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Earlier local times are smaller.
    public static func < (left: CivilTime, right: CivilTime) -> Bool {
        left.date != right.date
            ? left.date < right.date
            : (left.hour, left.minute, left.second, left.microsecond)
                < (right.hour, right.minute, right.second, right.microsecond)
    }
}
