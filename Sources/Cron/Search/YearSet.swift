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
