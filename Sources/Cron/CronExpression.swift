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

    /// What becomes of local times that the clock skips.
    public var gap: CronOptions.Gap { packed.gap }

    /// What becomes of local times that come twice.
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
