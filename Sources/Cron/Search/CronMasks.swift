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

    /// Whether the day-of-month field means no more than "any day".
    var hasAnyMonthDay: Bool { monthDays == CronMasks.allMonthDays }

    /// Whether the day-of-week field means no more than "any day".
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

extension CronMasks {
    /// The days of a month that match, bit d for day d.
    ///
    /// The month's first day is the weekday `firstWeekday`, 0 being Sunday, and it has `length` days.
    @inline(__always)
    func days(firstWeekday: UInt64, length: UInt64) -> UInt64 {
        let valid: UInt64 = (1 &<< length &- 1) &<< 1
        var byDate = monthDays
        if hasMonthDayForms { byDate |= formDays(firstWeekday: firstWeekday, length: length) }
        // Each week's seven bits are rotated so that bit 0 is the weekday of the month's first day.
        let low = (1 &<< (7 &- firstWeekday) &- 1) &* CronMasks.everyWeek
        var byWeekday =
            (nthWeekdays &>> firstWeekday) & low | (nthWeekdays &<< (7 &- firstWeekday))
            & (CronMasks.allWeekdays & ~low)
        if lastWeekdays != 0 {
            let all = lastWeekdays &* CronMasks.everyWeek
            let rotated = (all &>> firstWeekday) & low | (all &<< (7 &- firstWeekday)) & ~low
            byWeekday |= rotated & (0x7F &<< (length &- 7))
        }
        byWeekday = byWeekday &<< 1
        return (eitherDay ? byDate | byWeekday : byDate & byWeekday) & valid
    }

    /// The days that `L-n`, `nW` and `L-nW` stand for in such a month.
    func formDays(firstWeekday: UInt64, length: UInt64) -> UInt64 {
        var days = CronMasks.reversed(lastDays, length)
        var wanted =
            (nearestDays | CronMasks.reversed(nearestLastDays, length)) & ((1 << length - 1) << 1)
        while wanted != 0 {
            let day = UInt64(wanted.trailingZeroBitCount)
            wanted &= wanted - 1
            days |= 1 << CronMasks.workday(near: day, firstWeekday: firstWeekday, length: length)
        }
        return days
    }

    /// Bit n of `bits` as bit `length - n`.
    private static func reversed(_ bits: UInt64, _ length: UInt64) -> UInt64 {
        guard bits != 0 else { return 0 }
        var result: UInt64 = 0
        var rest = bits & (1 << length - 1)
        while rest != 0 {
            result |= 1 << (length - UInt64(rest.trailingZeroBitCount))
            rest &= rest - 1
        }
        return result
    }

    /// The Monday to Friday nearest to `day` that lies in the same month.
    private static func workday(near day: UInt64, firstWeekday: UInt64, length: UInt64) -> UInt64 {
        switch (firstWeekday + day - 1) % 7 {
        case 6: day == 1 ? 3 : day - 1
        case 0: day == length ? day - 2 : day + 1
        default: day
        }
    }

    /// Whether any date from 1970 to 2199 matches.
    ///
    /// A month is one of 28: it has 28 to 31 days, and its first is one of seven weekdays. All occur when the years are
    /// not restricted, so the answer needs no search.
    var hasAnyDate: Bool {
        // The common cases first: a day that every month has.
        let common: UInt64 = (1 << 28 - 1) << 1
        let fewWeekdays = eitherDay ? plainWeekdays != 0 : hasAnyWeekday && monthDays & common != 0
        if months != 0, years.isAll, fewWeekdays || hasAnyMonthDay && plainWeekdays != 0 { return true }
        guard years.isAll else { return hasAnyDateInYears }
        for firstWeekday in 0..<7 as Range<UInt64> {
            var found: UInt64 = 0
            if months & CronMasks.longMonths != 0 { found |= days(firstWeekday: firstWeekday, length: 31) }
            if months & CronMasks.shortMonths != 0 { found |= days(firstWeekday: firstWeekday, length: 30) }
            if months & CronMasks.february != 0 {
                found |= days(firstWeekday: firstWeekday, length: 29)
                found |= days(firstWeekday: firstWeekday, length: 28)
            }
            if found != 0 { return true }
        }
        return false
    }

    private static let february: UInt64 = 1 << 2
    private static let shortMonths: UInt64 = 1 << 4 | 1 << 6 | 1 << 9 | 1 << 11
    private static let longMonths = CronMasks.allMonths & ~(shortMonths | february)

    /// The same in the years of the set: one year is looked at of each of the fourteen kinds, by the weekday of its
    /// 1 January and its leap day.
    private var hasAnyDateInYears: Bool {
        var seen: UInt32 = 0
        var year = years.next(from: YearSet.first)
        while let current = year, seen != 1 << 14 - 1 {
            let firstDay = CalendarDay.days(ofYear: current, month: 1)
            let kind = UInt32((firstDay &+ 4) % 7 &* 2) + (CalendarDay.isLeap(current) ? 1 : 0)
            if seen & (1 << kind) == 0 {
                seen |= 1 << kind
                if hasAnyDate(in: current) { return true }
            }
            year = years.next(from: current + 1)
        }
        return false
    }

    private func hasAnyDate(in year: Int) -> Bool {
        var rest = months
        while rest != 0 {
            let month = rest.trailingZeroBitCount
            rest &= rest - 1
            if days(ofYear: year, month: month) != 0 { return true }
        }
        return false
    }

    /// The days of one month of one year that match.
    @inline(__always)
    func days(ofYear year: Int, month: Int) -> UInt64 {
        let first = CalendarDay.days(ofYear: year, month: month)
        return days(
            firstWeekday: UInt64(truncatingIfNeeded: (first &+ 4) % 7),
            length: UInt64(truncatingIfNeeded: CalendarDay.length(ofYear: year, month: month)))
    }
}

/// A day from 1970-01-01 to 2199-12-31, taken apart as fast as can be.
///
/// `Timeline.CivilDate` does the same for all years; the search spends most of its time here.
/// - Source: Neri and Schneider, Euclidean affine functions and their application to calendar algorithms.
struct CalendarDay {
    var year: Int
    var month: Int
    var day: Int

    /// Days before 2200-01-01.
    static let end = 84_006

    @inline(__always)
    init(days: Int) {
        let shifted = 4 &* (UInt32(truncatingIfNeeded: days) &+ 719_468) &+ 3
        let century = shifted / 146_097
        let inCentury = (shifted % 146_097) | 3
        let product = UInt64(2_939_745) &* UInt64(inCentury)
        let yearOfCentury = UInt32(truncatingIfNeeded: product &>> 32)
        let dayOfYear = UInt32(truncatingIfNeeded: product) / 2_939_745 / 4
        let parts = 2141 &* dayOfYear &+ 197_913
        let isNextYear = dayOfYear >= 306
        year = Int(truncatingIfNeeded: 100 &* century &+ yearOfCentury) &+ (isNextYear ? 1 : 0)
        month = Int(truncatingIfNeeded: parts &>> 16) &- (isNextYear ? 12 : 0)
        day = Int(truncatingIfNeeded: (parts & 0xFFFF) / 2141) &+ 1
    }

    /// Days from 1970-01-01 to the first of `month`; `year` is from 1970 to 2199.
    @inline(__always)
    static func days(ofYear year: Int, month: Int) -> Int {
        let isEarly = month <= 2
        let shiftedYear = UInt32(truncatingIfNeeded: year &- (isEarly ? 1 : 0))
        let shiftedMonth = UInt32(truncatingIfNeeded: month &+ (isEarly ? 12 : 0))
        let century = shiftedYear / 100
        let yearDays = 1461 &* shiftedYear / 4 &- century &+ century / 4
        let monthDays = (979 &* shiftedMonth &- 2919) / 32
        return Int(truncatingIfNeeded: yearDays &+ monthDays) &- 719_468
    }

    @inline(__always)
    static func isLeap(_ year: Int) -> Bool {
        // Of the years in range only 2100 breaks the rule of four.
        year & 3 == 0 && year != 2100
    }

    @inline(__always)
    static func length(ofYear year: Int, month: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : 30 | (month ^ (month &>> 3))
    }
}

/// A set of years from 1970 to 2199, one bit each.
struct YearSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64)

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    static let first = 1970
    static let last = 2199

    static let empty = YearSet(words: (0, 0, 0, 0))

    /// Every year there is.
    static let all = YearSet(words: (.max, .max, .max, 1 << 38 - 1))

    var isAll: Bool { self == .all }

    /// 0, 64, 128 or 192 places in, the word there.
    private subscript(word number: Int) -> UInt64 {
        get {
            switch number {
            case 0: words.0
            case 1: words.1
            case 2: words.2
            default: words.3
            }
        }
        set {
            switch number {
            case 0: words.0 = newValue
            case 1: words.1 = newValue
            case 2: words.2 = newValue
            default: words.3 = newValue
            }
        }
    }

    func contains(_ year: Int) -> Bool {
        guard year >= YearSet.first, year <= YearSet.last else { return false }
        let place = year &- YearSet.first
        return self[word: place &>> 6] &>> UInt64(truncatingIfNeeded: place & 63) & 1 == 1
    }

    mutating func insert(_ year: Int) {
        let place = year - YearSet.first
        self[word: place >> 6] |= 1 << UInt64(place & 63)
    }

    /// Its years as one word, the distance of the first from 1970 in the highest 8 bits and the 56 years from it on
    /// in the others; `nil` when they are further apart, or there are none.
    var window: UInt64? {
        guard let first = next(from: YearSet.first), let last = previous(from: YearSet.last),
            last - first < 56
        else { return nil }
        // No array: a good text is read without the heap.
        var window = UInt64(first - YearSet.first) << 56
        for year in first...last where contains(year) { window |= 1 << UInt64(year - first) }
        return window
    }

    /// The set of such a word.
    init(window: UInt64) {
        self = .empty
        let first = YearSet.first + Int(window >> 56)
        var rest = window & (1 << 56 - 1)
        while rest != 0 {
            insert(first + rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    /// The first year of the set at or after `year`.
    func next(from year: Int) -> Int? {
        var place = max(0, year - YearSet.first)
        while place < 256 {
            let rest = self[word: place >> 6] >> UInt64(place & 63)
            if rest != 0 { return YearSet.first + place + rest.trailingZeroBitCount }
            place = (place | 63) + 1
        }
        return nil
    }

    /// The last year of the set at or before `year`.
    func previous(from year: Int) -> Int? {
        var place = min(255, year - YearSet.first)
        while place >= 0 {
            let rest = self[word: place >> 6] << UInt64(63 - place & 63)
            if rest != 0 { return YearSet.first + place - rest.leadingZeroBitCount }
            place = (place & ~63) - 1
        }
        return nil
    }

    /// The years in order.
    var years: [Int] { (YearSet.first...YearSet.last).filter(contains) }

    static func == (left: YearSet, right: YearSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
