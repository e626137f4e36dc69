/// What an expression means, as bits: bit `v` of a field's word is set when value `v` matches.
///
/// Two texts with one meaning have equal masks.
struct CronMasks: Hashable, Sendable {
    var seconds: UInt64 = 1
    var minutes: UInt64 = 0
    var hours: UInt64 = 0

    /// Bits 1-12.
    var months: UInt64 = 0

    /// Bits 1-31.
    var monthDays: UInt64 = 0

    /// Bit 7(n-1)+w: the nth weekday w of a month; a plain weekday has all five.
    var nthWeekdays: UInt64 = 0

    /// Bit n: the nth day before the last one (`L-n`).
    var lastDays: UInt64 = 0

    /// Bit d: the weekday nearest to day d (`dW`).
    var nearestDays: UInt64 = 0

    /// Bit n: the weekday nearest to the nth day before the last one (`L-nW`).
    var nearestLastDays: UInt64 = 0

    /// Bit w: the last weekday w of a month (`wL`).
    var lastWeekdays: UInt64 = 0

    var years = YearSet.all

    /// Whether one of the two day fields is enough; else both must match.
    var eitherDay = false

    static let allSeconds: UInt64 = 1 << 60 - 1
    static let allHours: UInt64 = 1 << 24 - 1
    static let allMonths: UInt64 = (1 << 12 - 1) << 1
    static let allMonthDays: UInt64 = (1 << 31 - 1) << 1
    static let allWeekdays: UInt64 = 1 << 35 - 1

    /// Bit 0 of each of the five weeks.
    static let everyWeek: UInt64 = 0x1020_4081

    /// Whether the day-of-month field says no more than "any day".
    var hasAnyMonthDay: Bool { monthDays == CronMasks.allMonthDays }

    /// Whether the day-of-week field says no more than "any day".
    var hasAnyWeekday: Bool { nthWeekdays == CronMasks.allWeekdays }

    /// Whether days depend on the length of the month or on working days.
    var hasMonthDayForms: Bool { lastDays | nearestDays | nearestLastDays != 0 }

    /// The weekdays 0-6 that match in every week.
    var plainWeekdays: UInt64 { nthWeekdays & 0x7F }

    /// Whether the weekday field is nothing but weekdays.
    var hasPlainWeekdaysOnly: Bool {
        lastWeekdays == 0 && nthWeekdays == plainWeekdays &* CronMasks.everyWeek
    }

    /// Brings days that match anyway into one form, so that equal meanings are equal values.
    @inline(__always)
    mutating func normalise() {
        if eitherDay, hasAnyMonthDay || hasAnyWeekday {
            eitherDay = false
            monthDays = CronMasks.allMonthDays
            nthWeekdays = CronMasks.allWeekdays
        }
        if hasAnyMonthDay {
            lastDays = 0
            nearestDays = 0
            nearestLastDays = 0
        }
        if hasAnyWeekday { lastWeekdays = 0 }
    }
}
