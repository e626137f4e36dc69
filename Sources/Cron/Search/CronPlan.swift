/// Masks made ready for searching: which shortcuts hold.
///
/// All times here are local seconds: what a clock shows, counted from 1970-01-01 00:00:00.
struct CronPlan: Sendable {
    /// How much of the calendar has to be looked at.
    enum Shape: UInt8 {
        /// No date matches.
        case never
        /// Every day matches; only the time of day counts.
        case everyDay
        /// Plain weekdays of every month.
        case weekly
        /// Anything else: month by month.
        case monthly

        /// The shape that `masks` have.
        @inline(__always)
        init(of masks: CronMasks) {
            let isOpen = masks.months == CronMasks.allMonths && masks.years.isAll && !masks.eitherDay
            if isOpen, masks.hasAnyMonthDay, masks.hasAnyWeekday {
                self = .everyDay
            } else if isOpen, masks.hasAnyMonthDay, masks.hasPlainWeekdaysOnly, masks.plainWeekdays != 0 {
                self = .weekly
            } else {
                self = masks.hasAnyDate ? .monthly : .never
            }
        }
    }

    let masks: CronMasks
    let shape: Shape

    /// Local seconds of 2200-01-01, where the calendar of expressions ends.
    static let end = Int64(CalendarDay.end) * 86_400

    @inline(__always)
    init(_ masks: CronMasks, _ shape: Shape) {
        self.masks = masks
        self.shape = shape
    }

    private var firstTime: Int32 {
        @inline(__always) get {
            Int32(
                truncatingIfNeeded: masks.hours.trailingZeroBitCount &* 3600
                    &+ masks.minutes.trailingZeroBitCount &* 60 &+ masks.seconds.trailingZeroBitCount)
        }
    }

    private var lastTime: Int32 {
        @inline(__always) get {
            Int32(
                truncatingIfNeeded: (63 &- masks.hours.leadingZeroBitCount) &* 3600
                    &+ (63 &- masks.minutes.leadingZeroBitCount) &* 60
                    &+ (63 &- masks.seconds.leadingZeroBitCount))
        }
    }

    /// The first matching local second at or after `start`; `nil` when none comes before 2200.
    @inline(__always)
    func next(from start: Int64) -> Int64? {
        guard start < CronPlan.end else { return nil }
        let (days, time) = CronPlan.parts(of: max(start, 0))
        switch shape {
        case .never:
            return nil
        case .everyDay:
            if let found = nextTime(from: time) { return seconds(days, found) }
            return days &+ 1 < CalendarDay.end ? seconds(days &+ 1, firstTime) : nil
        case .weekly:
            let weekday = UInt64(truncatingIfNeeded: days &+ 4) % 7
            let weekdays = masks.plainWeekdays
            if weekdays &>> weekday & 1 == 1, let found = nextTime(from: time) {
                return seconds(days, found)
            }
            let coming = (weekdays | weekdays &<< 7) &>> (weekday &+ 1)
            let next = days &+ 1 &+ coming.trailingZeroBitCount
            return next < CalendarDay.end ? seconds(next, firstTime) : nil
        case .monthly:
            return nextByMonth(days: days, time: time)
        }
    }

    /// The last matching local second at or before `start`; `nil` when none lies after 1969.
    @inline(__always)
    func previous(from start: Int64) -> Int64? {
        guard start >= 0 else { return nil }
        let (days, time) = CronPlan.parts(of: min(start, CronPlan.end - 1))
        switch shape {
        case .never:
            return nil
        case .everyDay:
            if let found = previousTime(from: time) { return seconds(days, found) }
            return days > 0 ? seconds(days &- 1, lastTime) : nil
        case .weekly:
            let weekday = UInt64(truncatingIfNeeded: days &+ 4) % 7
            let weekdays = masks.plainWeekdays
            if weekdays &>> weekday & 1 == 1, let found = previousTime(from: time) {
                return seconds(days, found)
            }
            // Bit 6 of the shifted pattern is yesterday.
            let gone = (weekdays | weekdays &<< 7) &<< (57 &- weekday)
            let previous = days &- 1 &- gone.leadingZeroBitCount
            return previous >= 0 ? seconds(previous, lastTime) : nil
        case .monthly:
            return previousByMonth(days: days, time: time)
        }
    }

    /// The day of a local second that is not negative, and the second of that day.
    @inline(__always)
    private static func parts(of second: Int64) -> (days: Int, time: UInt32) {
        let second = Int(truncatingIfNeeded: second)
        let days = Int(UInt64(truncatingIfNeeded: second) / 86_400)
        return (days, UInt32(truncatingIfNeeded: second &- days &* 86_400))
    }

    @inline(__always)
    private func seconds(_ days: Int, _ time: Int32) -> Int64 {
        Int64(days) &* 86_400 &+ Int64(time)
    }

    @inline(__always)
    private func nextByMonth(days: Int, time: UInt32) -> Int64? {
        let date = CalendarDay(days: days)
        var year = date.year
        var months: UInt64 = 0
        if masks.years.contains(year) {
            months = masks.months & (.max &<< UInt64(truncatingIfNeeded: date.month))
            if months &>> UInt64(truncatingIfNeeded: date.month) & 1 == 1 {
                let matching = masks.days(ofYear: year, month: date.month)
                let day = UInt64(truncatingIfNeeded: date.day)
                if matching &>> day & 1 == 1, let found = nextTime(from: time) { return seconds(days, found) }
                let coming = matching & (.max &<< (day &+ 1))
                if coming != 0 {
                    return seconds(days &+ coming.trailingZeroBitCount &- date.day, firstTime)
                }
                months &= months &- 1
            }
        }
        while true {
            while months != 0 {
                let month = months.trailingZeroBitCount
                let matching = masks.days(ofYear: year, month: month)
                if matching != 0 {
                    let first = CalendarDay.days(ofYear: year, month: month)
                    return seconds(first &+ matching.trailingZeroBitCount &- 1, firstTime)
                }
                months &= months &- 1
            }
            guard let next = masks.years.next(from: year &+ 1), next <= YearSet.last else { return nil }
            year = next
            months = masks.months
        }
    }

    @inline(__always)
    private func previousByMonth(days: Int, time: UInt32) -> Int64? {
        let date = CalendarDay(days: days)
        var year = date.year
        var months: UInt64 = 0
        if masks.years.contains(year) {
            months = masks.months & (2 &<< UInt64(truncatingIfNeeded: date.month) &- 1)
            if months &>> UInt64(truncatingIfNeeded: date.month) & 1 == 1 {
                let matching = masks.days(ofYear: year, month: date.month)
                let day = UInt64(truncatingIfNeeded: date.day)
                if matching &>> day & 1 == 1, let found = previousTime(from: time) {
                    return seconds(days, found)
                }
                let gone = matching & (1 &<< day &- 1)
                if gone != 0 {
                    return seconds(days &- date.day &+ 63 &- gone.leadingZeroBitCount, lastTime)
                }
                months ^= 1 &<< UInt64(truncatingIfNeeded: date.month)
            }
        }
        while true {
            while months != 0 {
                let month = 63 &- months.leadingZeroBitCount
                let matching = masks.days(ofYear: year, month: month)
                if matching != 0 {
                    let first = CalendarDay.days(ofYear: year, month: month)
                    return seconds(first &+ 62 &- matching.leadingZeroBitCount, lastTime)
                }
                months ^= 1 &<< UInt64(truncatingIfNeeded: month)
            }
            guard let next = masks.years.previous(from: year &- 1) else { return nil }
            year = next
            months = masks.months
        }
    }

    /// The first matching second of a day at or after `time`.
    @inline(__always)
    private func nextTime(from time: UInt32) -> Int32? {
        let hour = UInt64(time / 3600)
        let minute = UInt64(time / 60 % 60)
        if masks.hours &>> hour & 1 == 1 {
            if masks.minutes &>> minute & 1 == 1 {
                let coming = masks.seconds & (.max &<< UInt64(time % 60))
                if coming != 0 { return join(hour, minute, coming.trailingZeroBitCount) }
            }
            let coming = masks.minutes & (.max &<< (minute &+ 1))
            if coming != 0 {
                return join(
                    hour, UInt64(truncatingIfNeeded: coming.trailingZeroBitCount),
                    masks.seconds.trailingZeroBitCount)
            }
        }
        let coming = masks.hours & (.max &<< (hour &+ 1))
        guard coming != 0 else { return nil }
        return join(
            UInt64(truncatingIfNeeded: coming.trailingZeroBitCount),
            UInt64(truncatingIfNeeded: masks.minutes.trailingZeroBitCount),
            masks.seconds.trailingZeroBitCount)
    }

    /// The last matching second of a day at or before `time`.
    @inline(__always)
    private func previousTime(from time: UInt32) -> Int32? {
        let hour = UInt64(time / 3600)
        let minute = UInt64(time / 60 % 60)
        if masks.hours &>> hour & 1 == 1 {
            if masks.minutes &>> minute & 1 == 1 {
                let gone = masks.seconds & (2 &<< UInt64(time % 60) &- 1)
                if gone != 0 { return join(hour, minute, 63 &- gone.leadingZeroBitCount) }
            }
            let gone = masks.minutes & (1 &<< minute &- 1)
            if gone != 0 {
                return join(
                    hour, UInt64(truncatingIfNeeded: 63 &- gone.leadingZeroBitCount),
                    63 &- masks.seconds.leadingZeroBitCount)
            }
        }
        let gone = masks.hours & (1 &<< hour &- 1)
        guard gone != 0 else { return nil }
        return join(
            UInt64(truncatingIfNeeded: 63 &- gone.leadingZeroBitCount),
            UInt64(truncatingIfNeeded: 63 &- masks.minutes.leadingZeroBitCount),
            63 &- masks.seconds.leadingZeroBitCount)
    }

    @inline(__always)
    private func join(_ hour: UInt64, _ minute: UInt64, _ second: Int) -> Int32 {
        Int32(truncatingIfNeeded: hour &* 3600 &+ minute &* 60) &+ Int32(truncatingIfNeeded: second)
    }
}

extension CronPlan {
    /// How many local seconds of `range` match, counted by whole days and not one by one.
    func count(in range: Range<Int64>) -> Int {
        let start = min(max(range.lowerBound, 0), CronPlan.end)
        let end = min(max(range.upperBound, 0), CronPlan.end)
        guard shape != .never, start < end else { return 0 }
        return countBefore(end) - countBefore(start)
    }

    /// Matches from 1970 up to, not including, the local second `end`.
    private func countBefore(_ end: Int64) -> Int {
        let days = Int(end / 86_400)
        let perDay =
            masks.hours.nonzeroBitCount * masks.minutes.nonzeroBitCount * masks.seconds.nonzeroBitCount
        var total = daysBefore(days) * perDay
        guard days < CalendarDay.end else { return total }
        let date = CalendarDay(days: days)
        if masks.years.contains(date.year), masks.months >> UInt64(date.month) & 1 == 1,
            masks.days(ofYear: date.year, month: date.month) >> UInt64(date.day) & 1 == 1
        {
            total += timesBefore(Int(end % 86_400))
        }
        return total
    }

    private func timesBefore(_ time: Int) -> Int {
        let (hour, minute, second) = (UInt64(time / 3600), UInt64(time / 60 % 60), UInt64(time % 60))
        let perMinute = masks.seconds.nonzeroBitCount
        let perHour = masks.minutes.nonzeroBitCount * perMinute
        var total = (masks.hours & (1 << hour - 1)).nonzeroBitCount * perHour
        guard masks.hours >> hour & 1 == 1 else { return total }
        total += (masks.minutes & (1 << minute - 1)).nonzeroBitCount * perMinute
        guard masks.minutes >> minute & 1 == 1 else { return total }
        return total + (masks.seconds & (1 << second - 1)).nonzeroBitCount
    }

    private func daysBefore(_ end: Int) -> Int {
        var total = 0
        var year = masks.years.next(from: YearSet.first)
        while let current = year {
            var rest = masks.months
            while rest != 0 {
                let month = rest.trailingZeroBitCount
                rest &= rest - 1
                let first = CalendarDay.days(ofYear: current, month: month)
                guard first < end else { return total }
                var matching = masks.days(ofYear: current, month: month)
                if end - first < 31 { matching &= 1 << UInt64(end - first + 1) - 1 }
                total += matching.nonzeroBitCount
            }
            year = masks.years.next(from: current + 1)
        }
        return total
    }
}
