/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Covers about 292,000 years either way. A moment has no zone; see ``ZoneRules`` for local times.
public struct Moment: Hashable, Comparable, Sendable {
    /// Microseconds since the epoch; negative before it.
    public var microseconds: Int64

    /// The moment `microseconds` after the epoch.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The moment whole `seconds` after the epoch.
    public init(seconds: Int64) {
        self.microseconds = seconds * 1_000_000
    }

    /// Whole seconds since the epoch, rounded down.
    public var seconds: Int64 {
        let whole = microseconds / 1_000_000
        return microseconds % 1_000_000 < 0 ? whole - 1 : whole
    }

    /// Whole milliseconds since the epoch, rounded down.
    public var milliseconds: Int64 {
        let whole = microseconds / 1000
        return microseconds % 1000 < 0 ? whole - 1 : whole
    }

    /// Earlier moments are smaller.
    public static func < (left: Moment, right: Moment) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The moment `duration` later; parts below a microsecond are dropped.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(microseconds: moment.microseconds + duration.microseconds)
    }

    /// The moment `duration` earlier; parts below a microsecond are dropped.
    public static func - (moment: Moment, duration: Duration) -> Moment {
        Moment(microseconds: moment.microseconds - duration.microseconds)
    }

    /// The time from `right` to `left`; negative when `left` is the earlier one.
    public static func - (left: Moment, right: Moment) -> Duration {
        .microseconds(left.microseconds - right.microseconds)
    }

    /// Earlier than every moment that occurs.
    public static let distantPast = Moment(microseconds: .min / 4)

    /// Later than every moment that occurs.
    public static let distantFuture = Moment(microseconds: .max / 4)
}

extension Duration {
    /// The whole microseconds in this duration, cut toward zero.
    public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// The whole milliseconds in this duration, cut toward zero.
    public var milliseconds: Int64 { microseconds / 1000 }
}

extension Moment: Codable {
    /// Reads whole microseconds since the epoch, as ``encode(to:)`` writes them.
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes one integer, the microseconds since the epoch: exact, and comparable in a query.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}

/// The clock on the wall: what time it is, and a way to wait for a time.
///
/// Owners hold `any WallClock`; nothing in the package asks the system for the time itself, so that a
/// test can own the clock.
public protocol WallClock: Sendable {
    /// The wall-clock time now. May go back when the clock is set.
    var now: Moment { get }

    /// Time since the machine started, sleep included; never goes back.
    ///
    /// Durations, time-outs and leases are measured on this, never as a difference of two moments.
    /// - Source: clock_gettime(2), `CLOCK_BOOTTIME`.
    var sinceBoot: Duration { get }

    /// Waits until the wall clock shows `moment`, and returns never before it.
    ///
    /// Returns at once when `moment` has passed. Returns early, before `moment`, only when the clock
    /// was set meanwhile: a caller looks at ``now`` again after every return.
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until moment: Moment) async throws
}

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

/// Why a text or a block of bytes is not a time, a duration or a zone.
///
/// The place is a range of bytes of what was read, so that a caller can draw a caret under it.
public struct TimelineError: Error, Hashable, Sendable {
    /// What was being read.
    public enum Problem: String, Hashable, Sendable {
        /// The text is not an ISO 8601 time.
        case notATime
        /// The text is not a duration such as `1h30m`.
        case notADuration
        /// The bytes are not a TZif file, or not one this decoder reads.
        case notZoneData
        /// The text is not a POSIX `TZ` rule.
        case notAZoneRule
        /// The value is too large for the type that holds it.
        case outOfRange
    }

    /// What kind of thing could not be read.
    public var problem: Problem

    /// The bytes at fault, as UTF-8 offsets; empty where something is missing.
    public var range: Range<Int>

    /// What is wrong, as one sentence without a full stop.
    public var message: String

    /// What to write instead, where that is known.
    public var fix: String?

    init(_ problem: Problem, at range: Range<Int>, _ message: String, fix: String? = nil) {
        self.problem = problem
        self.range = range
        self.message = message
        self.fix = fix
    }
}

extension TimelineError: CustomStringConvertible {
    /// The message, followed by the fix where there is one.
    public var description: String {
        fix.map { "\(message); \($0)" } ?? message
    }
}
