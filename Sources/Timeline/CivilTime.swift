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
