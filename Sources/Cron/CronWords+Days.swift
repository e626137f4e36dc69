extension CronWords {
    /// Which days, or nothing when the times say enough.
    var days: String {
        let byDate = monthDayParts
        let byWeekday = weekdayParts
        switch (masks.hasAnyMonthDay, masks.hasAnyWeekday) {
        case (true, true):
            return isEveryDaySaid ? "every day" : ""
        case (false, true):
            return byDate
        case (true, false):
            return byWeekday
        case (false, false):
            return masks.eitherDay
                ? "\(byDate) OR \(byWeekday)" : "\(byDate) AND only when that is \(byWeekday)"
        }
    }

    /// In which months and years, where not in all.
    var calendar: [String] {
        var parts: [String] = []
        if masks.months != CronMasks.allMonths {
            let months = CanonicalFields.places(masks.months)
            if months.count > 3, let step = CronWords.step(months), step > 1 {
                parts.append("in " + CronWords.join(months.map { CronNames.months[$0 - 1] }))
            } else {
                parts.append(
                    "in " + CronWords.join(CronWords.ranges(months) { CronNames.months[$0 - 1] }))
            }
        }
        if !masks.years.isAll {
            let years = masks.years.years
            if years.count > 3, let step = CronWords.step(years), step > 1, let last = years.last {
                parts.append("in every \(CronWords.ordinal(step)) year from \(years[0]) through \(last)")
            } else {
                parts.append("in " + CronWords.join(CronWords.ranges(years)))
            }
        }
        return parts
    }

    /// Whether "every day" adds something: not after "every 15 minutes".
    private var isEveryDaySaid: Bool {
        masks.months == CronMasks.allMonths && masks.hours != CronMasks.allHours
    }

    private var monthSuffix: String { masks.months == CronMasks.allMonths ? " of the month" : "" }

    private var monthDayParts: String {
        var parts: [String] = []
        let days = CanonicalFields.places(masks.monthDays)
        if !days.isEmpty { parts.append("on " + CronWords.values(days, "day") + monthSuffix) }
        for before in CanonicalFields.places(masks.lastDays) {
            parts.append("on the \(lastDay(before))\(monthSuffix)")
        }
        for day in CanonicalFields.places(masks.nearestDays) {
            parts.append("on the working day nearest to day \(day)\(monthSuffix)")
        }
        for before in CanonicalFields.places(masks.nearestLastDays) {
            parts.append(
                before == 0
                    ? "on the last working day\(monthSuffix)"
                    : "on the working day nearest to the \(lastDay(before))\(monthSuffix)")
        }
        return CronWords.join(parts, "and")
    }

    private func lastDay(_ before: Int) -> String {
        switch before {
        case 0: "last day"
        case 1: "day before the last day"
        default: "\(CronWords.ordinal(before)) day before the last day"
        }
    }

    private var weekdayParts: String {
        // With both day fields set the weekday is what the date must be: "a Monday", not "on Monday".
        let isCondition = !masks.hasAnyMonthDay && !masks.eitherDay
        let lead = isCondition ? "" : "on "
        var weekly: UInt64 = 0x7F
        for week in 0..<5 { weekly &= masks.nthWeekdays >> UInt64(week * 7) }
        var parts: [String] = []
        if weekly != 0 {
            let names = weekdayNames(weekly)
            parts.append(isCondition ? "a " + CronWords.join(names, "or") : lead + CronWords.join(names))
        }
        for place in CanonicalFields.places(masks.nthWeekdays) where weekly >> UInt64(place % 7) & 1 == 0 {
            let nth = CronWords.ordinal(place / 7 + 1)
            parts.append("\(lead)the \(nth) \(CronNames.weekdays[place % 7])\(monthSuffix)")
        }
        for day in CanonicalFields.places(masks.lastWeekdays) {
            parts.append("\(lead)the last \(CronNames.weekdays[day])\(monthSuffix)")
        }
        return CronWords.join(parts, isCondition ? "or" : "and")
    }

    private func weekdayNames(_ weekdays: UInt64) -> [String] {
        // The week begins on Monday here, so that a weekend is one run.
        let places = CanonicalFields.places(weekdays).map { $0 == 0 ? 7 : $0 }.sorted()
        let isCondition = !masks.hasAnyMonthDay && !masks.eitherDay
        if isCondition { return places.map { CronNames.weekdays[$0 % 7] } }
        return CronWords.ranges(places) { CronNames.weekdays[$0 % 7] }
    }
}
