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
