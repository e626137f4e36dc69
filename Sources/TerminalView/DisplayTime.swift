package import Timeline

/// Moments as people read them on a terminal; programs get ISO 8601.
package enum DisplayTime {
    /// `Mon 23 Nov 03:00 (+01:00)`: with seconds where there are any, with the year where it is not that of `now`.
    package static func full(_ moment: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let local = CivilTime(moment, in: zone)
        return "\(day(local, at: now, in: zone)) \(clock(local)) (\(offset(moment, in: zone)))"
    }

    /// For a column: `03:00:05` on the day of `now`, `Mon 23 Nov 03:00` on another one.
    package static func short(_ moment: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let local = CivilTime(moment, in: zone)
        guard local.date == CivilTime(now, in: zone).date else {
            return "\(day(local, at: now, in: zone)) \(two(local.hour)):\(two(local.minute))"
        }
        return "\(two(local.hour)):\(two(local.minute)):\(two(local.second))"
    }

    /// The time of day alone: `03:00`.
    package static func clock(_ moment: Moment, in zone: ZoneRules) -> String {
        let local = CivilTime(moment, in: zone)
        return "\(two(local.hour)):\(two(local.minute))"
    }

    /// `Mon 23`.
    static func day(_ date: CivilDate) -> String { "\(weekdays[date.weekday]) \(date.day)" }

    /// `+01:00`.
    package static func offset(_ moment: Moment, in zone: ZoneRules) -> String {
        let seconds = zone.offsetSeconds(at: moment)
        let size = abs(seconds)
        let rest = size % 60 == 0 ? "" : ":\(two(size % 60))"
        return "\(seconds < 0 ? "-" : "+")\(two(size / 3600)):\(two(size / 60 % 60))\(rest)"
    }

    private static func day(_ local: CivilTime, at now: Moment, in zone: ZoneRules) -> String {
        let date = local.date
        let year = date.year == CivilTime(now, in: zone).date.year ? "" : " \(date.year)"
        return "\(weekdays[date.weekday]) \(date.day) \(months[date.month - 1])\(year)"
    }

    private static func clock(_ local: CivilTime) -> String {
        "\(two(local.hour)):\(two(local.minute))" + (local.second == 0 ? "" : ":\(two(local.second))")
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
