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
