public import Timeline

/// A cron expression: a set of local times, read by the rules of Debian's cron.
///
/// ```swift
/// let expression = try CronExpression("30 2 * * MON-FRI")
/// expression.next(after: now, in: berlin)
/// ```
///
/// Two expressions are equal when they mean the same, however they are written. The occurrences lie in the
/// years 1970 to 2199; every search ends, and its work does not depend on how far away the answer is.
/// - Source: crontab(5) of Debian 12; the Open Cron Pattern Specification 1.4.
public struct CronExpression: Sendable {
    /// The text it was made of.
    public let text: String

    private let packed: PackedPlan

    /// The zone its own `CRON_TZ=` names, if it has one.
    public var zoneName: String? { CronParser.zoneName(in: text) }

    /// What happens to local times that the clock skips.
    public var gap: CronOptions.Gap { packed.gap }

    /// What happens to local times that come twice.
    public var overlap: CronOptions.Overlap { packed.overlap }

    /// Whether it is a fixed-time job, which is run once for skipped and repeated times; else it follows the
    /// clock on the wall.
    public var isFixedTime: Bool { packed.isFixed }

    var plan: CronPlan { packed.plan }

    /// Reads an expression of 5, 6 or 7 fields, or a macro such as `@daily`.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes; blanks are spaces and tabs.
    ///   - options: The notation, and the rules for days and clock changes.
    ///   - knowsZone: Says whether a zone of that name exists; without it any well-formed name passes.
    /// - Throws: ``CronError`` with every fault of the text.
    public init(
        _ text: String, options: CronOptions = CronOptions(), knowsZone: ((String) -> Bool)? = nil
    ) throws(CronError) {
        if options.dialect == .unix, let plain = CronParser.plainFields(text.utf8.span, options.dayRule) {
            self.text = text
            packed = PackedPlan(plain.masks, isFixed: options.isFixed(plain.followsClock), options)
            return
        }
        var parser = CronParser(options: options)
        parser.parse(text.utf8.span, knowsZone: knowsZone)
        guard parser.isFaultless else { throw CronError(text: text, faults: parser.faults) }
        self.text = text
        packed = PackedPlan(parser.masks, isFixed: options.isFixed(parser.followsClock), options)
    }

    /// What a parser has read without a fault.
    init(_ text: String, _ parser: borrowing CronParser, _ options: CronOptions) {
        self.text = text
        packed = PackedPlan(parser.masks, isFixed: options.isFixed(parser.followsClock), options)
    }

    /// Whether no date of the calendar matches, as with 30 February; known without a search.
    public var neverFires: Bool { packed.shape == .never }

    /// The first occurrence strictly after `moment`; `nil` when none comes before the year 2200.
    ///
    /// A time that the clock of `zone` skips or repeats is treated as ``gap`` and ``overlap`` say.
    /// - Complexity: O(1) for nearly all expressions, and always bounded.
    public func next(after moment: Moment, in zone: ZoneRules) -> Moment? {
        guard !neverFires else { return nil }
        let start = moment.seconds &+ 1
        let found = packed.isUsual ? usualWalk(in: zone).next(from: start) : rareNext(from: start, in: zone)
        return found.map(Moment.init(seconds:))
    }

    /// The last occurrence strictly before `moment`; `nil` when there is none since 1970.
    ///
    /// Of the same set as ``next(after:in:)``: each is the other's inverse.
    public func previous(before moment: Moment, in zone: ZoneRules) -> Moment? {
        guard !neverFires else { return nil }
        let last = Moment(microseconds: moment.microseconds &- 1).seconds
        let found =
            packed.isUsual ? usualWalk(in: zone).previous(from: last) : rarePrevious(from: last, in: zone)
        return found.map(Moment.init(seconds:))
    }

    /// Whether `moment` is an occurrence.
    public func contains(_ moment: Moment, in zone: ZoneRules) -> Bool {
        next(after: Moment(microseconds: moment.microseconds &- 1), in: zone) == moment
    }

    /// How many occurrences lie in `range`, counted by days and not one by one.
    public func count(in range: Range<Moment>, zone: ZoneRules) -> Int {
        let range = range.clamped(to: Moment.distantPast..<Moment.distantFuture)
        let low = Moment(microseconds: range.lowerBound.microseconds - 1).seconds + 1
        let high = Moment(microseconds: range.upperBound.microseconds - 1).seconds + 1
        guard !neverFires, low < high else { return 0 }
        return walk(in: zone).count(in: low..<high)
    }

    // Searches with seconds, day forms or years are apart, so that the usual ones are spared the memory these need.

    @inline(never)
    private func rareNext(from start: Int64, in zone: ZoneRules) -> Int64? {
        walk(in: zone).next(from: start)
    }

    @inline(never)
    private func rarePrevious(from start: Int64, in zone: ZoneRules) -> Int64? {
        walk(in: zone).previous(from: start)
    }

    @inline(__always)
    private func usualWalk(in zone: ZoneRules) -> ZoneWalk<CronPlan> {
        ZoneWalk(
            plan: packed.usualPlan, isFixed: packed.isFixed, gap: packed.gap, overlap: packed.overlap,
            zone: zone)
    }

    func walk(in zone: ZoneRules) -> ZoneWalk<CronPlan> {
        ZoneWalk(
            plan: packed.plan, isFixed: packed.isFixed, gap: packed.gap, overlap: packed.overlap, zone: zone)
    }
}

extension CronExpression: Hashable {
    /// Whether both have the same occurrences in every zone and name the same zone.
    public static func == (left: CronExpression, right: CronExpression) -> Bool {
        left.packed == right.packed && left.zoneName == right.zoneName
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(packed)
        hasher.combine(zoneName)
    }
}

/// The occurrences of an expression in a zone, one after the other, found as they are asked for.
public struct CronOccurrences: Sequence, Sendable {
    let expression: CronExpression
    let zone: ZoneRules
    let start: Moment
    let isForward: Bool

    /// Steps through the occurrences.
    public struct Iterator: IteratorProtocol {
        let sequence: CronOccurrences
        var current: Moment

        /// The following occurrence; `nil` when there is no more.
        public mutating func next() -> Moment? {
            let found =
                sequence.isForward
                ? sequence.expression.next(after: current, in: sequence.zone)
                : sequence.expression.previous(before: current, in: sequence.zone)
            if let found { current = found }
            return found
        }
    }

    /// Starts again at the sequence's own start.
    public func makeIterator() -> Iterator { Iterator(sequence: self, current: start) }
}

extension CronExpression {
    /// All occurrences strictly after `moment`, earliest first.
    public func occurrences(after moment: Moment, in zone: ZoneRules) -> CronOccurrences {
        CronOccurrences(expression: self, zone: zone, start: moment, isForward: true)
    }

    /// All occurrences strictly before `moment`, latest first.
    public func occurrences(before moment: Moment, in zone: ZoneRules) -> CronOccurrences {
        CronOccurrences(expression: self, zone: zone, start: moment, isForward: false)
    }

    /// The occurrences in `range`, earliest first; ``count(in:zone:)`` counts without listing them.
    public func occurrences(in range: Range<Moment>, zone: ZoneRules) -> some Sequence<Moment> {
        let start = Moment(microseconds: range.lowerBound.microseconds - 1)
        return occurrences(after: start, in: zone).prefix { $0 < range.upperBound }
    }
}

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
