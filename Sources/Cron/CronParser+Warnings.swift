extension CronParser {
    mutating func warnOfStep(_ term: Term, _ field: CronField, _ range: Range<Int>) {
        let values = term.high - term.low + 1
        if term.step > values {
            warn(
                .stepExceedsField, in: field, at: range,
                "the step is larger than the field, so only \(term.low) is left")
        } else if values == field.width, field != .year, field != .dayOfMonth, values % term.step != 0 {
            let last = term.low + (values - 1) / term.step * term.step
            warn(
                .unevenStep, in: field, at: range,
                "\(term.step) does not divide \(values): after \(last) comes \(term.low) again, \(values - last + term.low) later"
            )
        }
    }

    mutating func warnOfDays(_ monthDay: Field, _ weekday: Field, at range: Range<Int>) {
        let bothSet = !masks.hasAnyMonthDay && !masks.hasAnyWeekday
        if masks.eitherDay, bothSet {
            warn(
                .bothDaysOr, at: range,
                "it fires when the day of month matches, and also when the day of week does")
        }
        let differs =
            !weekday.flags.contains(.forced)
            && (monthDay.isOpen(.vixie) || weekday.isOpen(.vixie))
                != (monthDay.isOpen(.ocps) || weekday.isOpen(.ocps))
        if differs, bothSet || dayRule == .ocps {
            warn(
                .starStepDay,
                in: monthDay.flags.contains(.bare) || !monthDay.flags.contains(.starred)
                    ? .dayOfWeek : .dayOfMonth,
                at: range,
                "a star with a step beside another day field: here \(masks.eitherDay ? "one" : "both") must match, other programs disagree"
            )
        }
        if masks.seconds == CronMasks.allSeconds, masks.minutes == CronMasks.allSeconds {
            warn(.tooDense, in: .second, at: 0..<range.upperBound, "it fires every second")
        }
    }
}
