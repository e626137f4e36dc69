import Timeline

extension CronExpression {
    /// What is true of its dates and easily overlooked, a sentence each without a full stop.
    ///
    /// Unlike a ``CronWarning`` none of it is likely to be a mistake.
    public var notes: [String] {
        let masks = plan.masks
        let days = CanonicalFields.places(masks.monthDays)
        guard !neverFires, !days.isEmpty, !masks.hasAnyMonthDay, !masks.hasMonthDayForms, !masks.eitherDay
        else {
            return []
        }
        let months = CanonicalFields.places(masks.months)
        if days == [29], months == [2] { return ["29 February comes in leap years only"] }
        return Self.shortMonths(days, months) + Self.leapDay(days, months) + Self.restart(days)
    }

    /// Of `0 0 31 * *`: months that have none of the days.
    private static func shortMonths(_ days: [Int], _ months: [Int]) -> [String] {
        guard let first = days.first else { return [] }
        let short = months.filter { CivilDate.days(inMonth: $0, of: 2024) < first }
        guard !short.isEmpty else { return [] }
        let names = CronWords.join(short.map { CronNames.months[$0 - 1] })
        let pronoun = short.count == 1 ? "has" : "have"
        return ["nothing runs in \(names), which \(pronoun) no day \(first)"]
    }

    /// Of `0 0 29 * *`: February without its 29th.
    private static func leapDay(_ days: [Int], _ months: [Int]) -> [String] {
        days.first == 29 && months.contains(2) ? ["nothing runs in February, except in leap years"] : []
    }

    /// Of `*/2` days: the step from the last day of a month to the first of the next.
    private static func restart(_ days: [Int]) -> [String] {
        guard days.first == 1, days.count > 2, let last = days.last, let step = CronWords.step(days),
            step > 1,
            last + step > 31
        else { return [] }
        let end = CronWords.ordinal(last)
        return [
            "the count starts again each month: the \(end) is followed by the 1st; "
                + "only the phrase \"every \(step) days\" counts through"
        ]
    }
}
