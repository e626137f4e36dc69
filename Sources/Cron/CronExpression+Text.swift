extension CronExpression: CustomStringConvertible {
    /// The canonical text: numbers, the fewest fields, no `H` or macro left; it parses back to an equal
    /// expression.
    ///
    /// It is in the `unix` dialect whatever the source was. Policies for clock changes are not part of a
    /// text; a class forced by ``CronOptions/jobClass-swift.property`` is kept where stars can say it.
    public var description: String {
        let fields = CanonicalFields(plan.masks, isFixedTime: isFixedTime).text
        return zoneName.map { "CRON_TZ=\($0) \(fields)" } ?? fields
    }
}

/// Writes masks as the fields of an expression.
struct CanonicalFields {
    private let masks: CronMasks
    private let isFixedTime: Bool

    init(_ masks: CronMasks, isFixedTime: Bool) {
        self.masks = masks
        self.isFixedTime = isFixedTime
    }

    var text: String {
        let times: [(CronField, UInt64)] = [
            (.minute, masks.minutes), (.hour, masks.hours), (.second, masks.seconds),
        ]
        // A wildcard job needs a star in front of one of its times.
        var starred: CronField?
        if !isFixedTime, !times.dropLast().contains(where: { Self.starText($0.1, $0.0) != nil }),
            Self.starText(masks.seconds, .second) == nil
        {
            starred = times.first { $0.1 & 1 == 1 }?.0
        }
        let written = times.map { Self.time($0.1, $0.0, canStar: !isFixedTime, mustStar: $0.0 == starred) }
        var fields = [written[0], written[1], monthDays, Self.list(masks.months, .month), weekdays]
        if !masks.years.isAll {
            fields.append(Self.yearText(masks.years))
            fields.insert(written[2], at: 0)
        } else if masks.seconds != 1 || starred == .second {
            fields.insert(written[2], at: 0)
        }
        return fields.joined(separator: " ")
    }

    private var monthDays: String {
        if masks.hasAnyMonthDay { return "*" }
        var terms: [String] = []
        if masks.monthDays != 0 {
            let isAlone = masks.hasAnyWeekday && !masks.hasMonthDayForms
            terms.append(Self.list(masks.monthDays, .dayOfMonth, canStar: isAlone))
        }
        terms += Self.places(masks.lastDays).map { $0 == 0 ? "L" : "L-\($0)" }
        terms += Self.places(masks.nearestDays).map { "\($0)W" }
        terms += Self.places(masks.nearestLastDays).map { $0 == 0 ? "LW" : "L-\($0)W" }
        return terms.joined(separator: ",")
    }

    private var weekdays: String {
        if masks.hasAnyWeekday { return "*" }
        var weekly: UInt64 = 0x7F
        for week in 0..<5 { weekly &= masks.nthWeekdays >> UInt64(week * 7) }
        var terms: [String] = []
        if weekly != 0 { terms.append(Self.list(weekly, .dayOfWeek, canStar: false)) }
        for place in Self.places(masks.nthWeekdays) where weekly >> UInt64(place % 7) & 1 == 0 {
            terms.append("\(place % 7)#\(place / 7 + 1)")
        }
        terms += Self.places(masks.lastWeekdays).map { "\($0)L" }
        let mustForce = !masks.eitherDay && !masks.hasAnyMonthDay
        return (mustForce ? "+" : "") + terms.joined(separator: ",")
    }

    // MARK: Lists

    private static func time(_ bits: UInt64, _ field: CronField, canStar: Bool, mustStar: Bool) -> String {
        guard mustStar else { return list(bits, field, canStar: canStar) }
        let first = "*/\(field.width)"
        return bits == 1 ? first : first + "," + list(bits & ~1, field, canStar: false)
    }

    /// `*` or `*/s`, where that is what the bits are.
    static func starText(_ bits: UInt64, _ field: CronField) -> String? {
        guard bits >> UInt64(field.minimum) & 1 == 1, bits.nonzeroBitCount > 1 else { return nil }
        let rest = bits & ~(1 << UInt64(field.minimum))
        let step = rest.trailingZeroBitCount - field.minimum
        guard bits == progression(field.minimum, field.maximum, step) else { return nil }
        return step == 1 ? "*" : "*/\(step)"
    }

    static func list(_ bits: UInt64, _ field: CronField, canStar: Bool = true) -> String {
        if canStar, let star = starText(bits, field) { return star }
        return runs(places(bits))
    }

    private static func yearText(_ years: YearSet) -> String {
        runs(years.years)
    }

    /// Values as `a-b/s` where they are one progression, else as a list of values and ranges.
    private static func runs(_ values: [Int]) -> String {
        guard values.count > 2, let first = values.first, let last = values.last else {
            return values.map(String.init).joined(separator: ",")
        }
        let step = values[1] - first
        if step > 1, values.count > 3, zip(values, values.dropFirst()).allSatisfy({ $1 - $0 == step }) {
            return "\(first)-\(last)/\(step)"
        }
        var terms: [String] = []
        var rest = values[...]
        while let start = rest.popFirst() {
            var end = start
            while rest.first == end + 1 { end = rest.removeFirst() }
            switch end - start {
            case 0: terms.append("\(start)")
            case 1: terms += ["\(start)", "\(end)"]
            default: terms.append("\(start)-\(end)")
            }
        }
        return terms.joined(separator: ",")
    }

    static func progression(_ low: Int, _ high: Int, _ step: Int) -> UInt64 {
        stride(from: low, through: high, by: max(1, step)).reduce(0) { $0 | 1 << UInt64($1) }
    }

    static func places(_ bits: UInt64) -> [Int] {
        (0..<64).filter { bits >> UInt64($0) & 1 == 1 }
    }
}
