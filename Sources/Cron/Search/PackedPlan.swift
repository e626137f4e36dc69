/// A plan and its policies in the form in which they are kept: five words instead of twenty.
///
/// Minutes, hours, days and months always have their place. Seconds, day forms and years are rare, and rarely
/// together: what a text has of them shares one word, and only what doesn't fit there goes into a box on the
/// heap (`0 0 9 L * * 2030`, or years more than 56 apart). Equal meanings have equal words.
struct PackedPlan: Hashable, Sendable {
    /// What ``extra`` holds.
    private enum Extra: UInt64 {
        /// Nothing: second 0, no day forms, every year.
        case none
        case seconds
        /// `L-n` in bits 0-30, `nW` in bits 31-62.
        case lastAndNearestDays
        /// `L-n` in bits 0-30, `L-nW` in bits 31-61.
        case lastAndNearestLastDays
        /// Years as ``YearSet/window`` has them.
        case years
        /// Nothing; all of these are in ``box``.
        case boxed
    }

    /// Minutes in bits 0-59, the kind of ``extra`` above them.
    private let minutes: UInt64
    /// Hours in bits 0-23, days of the month 1-31 from bit 24 on, then from bit 55 `eitherDay`, the class, the gap and
    /// the overlap (2 bits).
    private let hoursAndDays: UInt64
    private let extra: UInt64
    private let box: RareMasks?
    /// nth weekdays in bits 0-34, last weekdays in 35-41, months 1-12 in 42-53; in three parts, so that the shape
    /// has the last byte of the word.
    private let weekdaysLow: UInt32
    private let weekdaysMiddle: UInt16
    private let weekdaysHigh: UInt8
    let shape: CronPlan.Shape

    @inline(__always)
    init(_ masks: CronMasks, isFixed: Bool, _ options: borrowing CronOptions) {
        let hasForms = masks.hasMonthDayForms
        let isUsual = masks.seconds == 1 && masks.years.isAll
        var kind = Extra.none
        var extra: UInt64 = 0
        var box: RareMasks?
        if !isUsual || hasForms { (kind, extra, box) = Self.pack(masks, hasForms: hasForms) }
        minutes = masks.minutes | kind.rawValue &<< 60
        var hoursAndDays = masks.hours | masks.monthDays &<< 23
        hoursAndDays |= masks.eitherDay ? 1 &<< 55 : 0
        hoursAndDays |= isFixed ? 1 &<< 56 : 0
        hoursAndDays |= options.gap == .skip ? 1 &<< 57 : 0
        hoursAndDays |= options.overlap == .first ? 0 : options.overlap == .last ? 1 &<< 58 : 2 &<< 58
        self.hoursAndDays = hoursAndDays
        self.extra = extra
        self.box = box
        let weekdays = masks.nthWeekdays | masks.lastWeekdays &<< 35 | masks.months &<< 41
        weekdaysLow = UInt32(truncatingIfNeeded: weekdays)
        weekdaysMiddle = UInt16(truncatingIfNeeded: weekdays &>> 32)
        weekdaysHigh = UInt8(truncatingIfNeeded: weekdays &>> 48)
        shape = CronPlan.Shape(of: masks)
    }

    @inline(never)
    private static func pack(_ masks: CronMasks, hasForms: Bool) -> (Extra, UInt64, RareMasks?) {
        switch (masks.seconds != 1, hasForms, masks.years.window) {
        case (true, false, nil) where masks.years.isAll:
            return (.seconds, masks.seconds, nil)
        case (false, true, nil) where masks.years.isAll && masks.nearestLastDays == 0:
            return (.lastAndNearestDays, masks.lastDays | masks.nearestDays << 31, nil)
        case (false, true, nil) where masks.years.isAll && masks.nearestDays == 0:
            return (.lastAndNearestLastDays, masks.lastDays | masks.nearestLastDays << 31, nil)
        case (false, false, let window?):
            return (.years, window, nil)
        default:
            return (.boxed, 0, RareMasks(masks))
        }
    }

    /// Whether there are neither seconds nor day forms nor years, as in most texts.
    var isUsual: Bool {
        @inline(__always) get { minutes &>> 60 == 0 }
    }

    /// The masks as they were, where ``isUsual``.
    private var usualMasks: CronMasks {
        @inline(__always) get {
            var masks = CronMasks()
            masks.minutes = minutes & CronMasks.allSeconds
            masks.hours = hoursAndDays & CronMasks.allHours
            masks.monthDays = hoursAndDays &>> 23 & CronMasks.allMonthDays
            let weekdays = UInt64(weekdaysLow) | UInt64(weekdaysMiddle) &<< 32 | UInt64(weekdaysHigh) &<< 48
            masks.nthWeekdays = weekdays & CronMasks.allWeekdays
            masks.lastWeekdays = weekdays &>> 35 & 0x7F
            masks.months = weekdays &>> 41 & CronMasks.allMonths
            masks.eitherDay = hoursAndDays &>> 55 & 1 == 1
            return masks
        }
    }

    /// The masks as they were.
    var masks: CronMasks {
        @inline(__always) get {
            var masks = usualMasks
            guard !isUsual else { return masks }
            (masks.seconds, masks.lastDays, masks.nearestDays, masks.nearestLastDays) = rareParts
            if let years = rareYears { masks.years = years }
            return masks
        }
    }

    /// Seconds, `L-n`, `nW` and `L-nW`.
    private var rareParts: (UInt64, UInt64, UInt64, UInt64) {
        let low: UInt64 = 1 << 31 - 1
        return switch Extra(rawValue: minutes >> 60) {
        case .seconds: (extra, 0, 0, 0)
        case .lastAndNearestDays: (1, extra & low, extra >> 31, 0)
        case .lastAndNearestLastDays: (1, extra & low, 0, extra >> 31)
        case .boxed: box?.parts ?? (1, 0, 0, 0)
        case .years, .some(.none), nil: (1, 0, 0, 0)
        }
    }

    /// The years, where they are not all.
    private var rareYears: YearSet? {
        switch Extra(rawValue: minutes >> 60) {
        case .years: YearSet(window: extra)
        case .boxed: box?.years
        default: nil
        }
    }

    /// The plan, made ready for searching.
    var plan: CronPlan {
        @inline(__always) get { CronPlan(masks, shape) }
    }

    /// The plan where ``isUsual``: the compiler then knows what is not in it, and keeps the rest in registers.
    var usualPlan: CronPlan {
        @inline(__always) get { CronPlan(usualMasks, shape) }
    }

    var isFixed: Bool { hoursAndDays &>> 56 & 1 == 1 }

    var gap: CronOptions.Gap { hoursAndDays &>> 57 & 1 == 1 ? .skip : .runAfter }

    var overlap: CronOptions.Overlap {
        switch hoursAndDays &>> 58 & 3 {
        case 0: .first
        case 1: .last
        default: .both
        }
    }
}

/// The rare parts of masks, for expressions that have several of them.
private final class RareMasks: Hashable, Sendable {
    private let seconds: UInt64
    private let lastDays: UInt64
    private let nearestDays: UInt64
    private let nearestLastDays: UInt64
    let years: YearSet

    init(_ masks: CronMasks) {
        seconds = masks.seconds
        lastDays = masks.lastDays
        nearestDays = masks.nearestDays
        nearestLastDays = masks.nearestLastDays
        years = masks.years
    }

    var parts: (UInt64, UInt64, UInt64, UInt64) { (seconds, lastDays, nearestDays, nearestLastDays) }

    static func == (left: RareMasks, right: RareMasks) -> Bool {
        left.seconds == right.seconds && left.lastDays == right.lastDays
            && left.nearestDays == right.nearestDays && left.nearestLastDays == right.nearestLastDays
            && left.years == right.years
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(seconds)
        hasher.combine(lastDays)
        hasher.combine(nearestDays)
        hasher.combine(nearestLastDays)
        hasher.combine(years)
    }
}
