import Timeline

@testable import Cron

/// The rules of occurrence said once more, as slowly and plainly as possible: every second of a local day is
/// asked, every clock change is looked up by walking.
struct BruteForce {
    let masks: CronMasks
    let isFixed: Bool
    let gap: CronOptions.Gap
    let overlap: CronOptions.Overlap
    let zone: ZoneRules

    init(_ expression: CronExpression, zone: ZoneRules) {
        masks = expression.plan.masks
        isFixed = expression.isFixedTime
        gap = expression.gap
        overlap = expression.overlap
        self.zone = zone
    }

    /// Whether a clock that shows `time` shows a matching one.
    func matches(_ time: CivilTime) -> Bool {
        func has(_ bits: UInt64, _ value: Int) -> Bool { bits >> UInt64(value) & 1 == 1 }
        return has(masks.seconds, time.second) && has(masks.minutes, time.minute)
            && has(masks.hours, time.hour) && has(masks.months, time.date.month)
            && masks.years.contains(time.date.year) && matches(time.date)
    }

    private func matches(_ date: CivilDate) -> Bool {
        let length = CivilDate.days(inMonth: date.month, of: date.year)
        func has(_ bits: UInt64, _ value: Int) -> Bool { value >= 0 && bits >> UInt64(value) & 1 == 1 }
        var byDate = has(masks.monthDays, date.day) || has(masks.lastDays, length - date.day)
        for target in 1...length
        where has(masks.nearestDays, target) || has(masks.nearestLastDays, length - target) {
            byDate = byDate || nearestWorkday(to: target, like: date, length: length) == date.day
        }
        let isLast = date.day + 7 > length
        let byWeekday =
            has(masks.nthWeekdays, (date.day - 1) / 7 * 7 + date.weekday)
            || isLast && has(masks.lastWeekdays, date.weekday)
        return masks.eitherDay ? byDate || byWeekday : byDate && byWeekday
    }

    private func nearestWorkday(to target: Int, like date: CivilDate, length: Int) -> Int? {
        // In order of nearness; of two equally near ones the earlier cannot occur (a weekend is two days).
        for distance in 0...2 {
            for day in [target - distance, target + distance] where day >= 1 && day <= length {
                let weekday = CivilDate(year: date.year, month: date.month, day: day).weekday
                if weekday != 0, weekday != 6 { return day }
            }
        }
        return nil
    }

    /// Whether the second `seconds` after the epoch is an occurrence.
    func occurs(at seconds: Int64) -> Bool {
        let offset = Int64(zone.offsetSeconds(at: Moment(seconds: seconds)))
        let local = seconds + offset
        if matches(CivilTime(localSeconds: local)) {
            guard isFixed else { return true }
            switch zone.instants(of: local) {
            case .overlap(let first, let second):
                switch overlap {
                case .both: return true
                case .first: if first.seconds == seconds { return true }
                case .last: if second.seconds == seconds { return true }
                }
            case .unique, .gap:
                return true
            }
        }
        guard isFixed, gap == .runAfter else { return false }
        let before = Int64(zone.offsetSeconds(at: Moment(seconds: seconds - 1)))
        let jump = offset - before
        guard jump > 0, jump <= 3 * 3600 else { return false }
        return (0..<jump).contains { matches(CivilTime(localSeconds: seconds + before + $0)) }
    }
}
