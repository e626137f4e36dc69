/// A set of years from 1970 to 2199, one bit each.
struct YearSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64)

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
