public import Timeline

/// Every so many days or weeks at one time of day, as a calendar on the wall counts them.
///
/// Days are counted by their dates, never as 24 hours: the time of day stays when the clock changes. A local time
/// that the clock skips or repeats is treated as in a fixed-time ``CronExpression``, by ``gap`` and ``overlap``.
/// A date that a zone leaves out (30 December 2011 in Samoa) is counted and has no slot.
public struct CalendarGrid: Hashable, Sendable {
    // Narrow, so that a schedule of this kind is no larger than the others.
    private let first: Int32
    private let step: Int32
    private let time: Int32

    /// What happens to a slot whose local time the clock skips.
    public let gap: CronOptions.Gap

    /// What happens to a slot whose local time comes twice.
    public let overlap: CronOptions.Overlap

    /// The day of the first slot; there is none before it.
    public var firstDay: CivilDate { CivilDate(daysSinceEpoch: Int(first)) }

    /// How many days lie between two slots.
    public var days: Int { Int(step) }

    /// The time of day in seconds since midnight.
    public var secondOfDay: Int { Int(time) }

    /// The most days between two slots: a hundred years.
    public static let longest = 36_600

    /// A grid of `days` from `firstDay` on; `nil` when a value is outside its limits.
    ///
    /// - Parameters:
    ///   - days: 1 to ``longest``.
    ///   - firstDay: A day of the years 1970 to 2199.
    ///   - secondOfDay: 0 to 86,399.
    ///   - gap: What happens to a skipped local time.
    ///   - overlap: What happens to a repeated local time.
    public init?(
        days: Int, firstDay: CivilDate, secondOfDay: Int, gap: CronOptions.Gap = .runAfter,
        overlap: CronOptions.Overlap = .first
    ) {
        let first = firstDay.daysSinceEpoch
        guard (1...Self.longest).contains(days), (0..<CalendarDay.end).contains(first),
            (0..<86_400).contains(secondOfDay)
        else { return nil }
        (self.first, step, time) = (Int32(first), Int32(days), Int32(secondOfDay))
        (self.gap, self.overlap) = (gap, overlap)
    }

    /// The first slot strictly after `moment`; `nil` when none comes before the year 2200.
    ///
    /// - Complexity: O(1) for nearly all moments, and always bounded.
    public func next(after moment: Moment, in zone: ZoneRules) -> Moment? {
        walk(in: zone).next(from: moment.seconds &+ 1).map(Moment.init(seconds:))
    }

    /// The last slot strictly before `moment`; `nil` when there is none.
    ///
    /// Of the same set as ``next(after:in:)``: each is the other's inverse.
    public func previous(before moment: Moment, in zone: ZoneRules) -> Moment? {
        walk(in: zone).previous(from: Moment(microseconds: moment.microseconds &- 1).seconds)
            .map(Moment.init(seconds:))
    }

    /// How many slots lie in `range`, without listing them.
    public func count(in range: Range<Moment>, zone: ZoneRules) -> Int {
        let range = range.clamped(to: Moment.distantPast..<Moment.distantFuture)
        let low = Moment(microseconds: range.lowerBound.microseconds - 1).seconds + 1
        let high = Moment(microseconds: range.upperBound.microseconds - 1).seconds + 1
        return low < high ? walk(in: zone).count(in: low..<high) : 0
    }

    func walk(in zone: ZoneRules) -> ZoneWalk<CalendarGrid> {
        ZoneWalk(plan: self, isFixed: true, gap: gap, overlap: overlap, zone: zone)
    }

    /// The same grid, continued backwards until it begins on `day` or before it.
    package func begun(by day: CivilDate) -> CalendarGrid {
        let late = firstDay.daysSinceEpoch - max(0, day.daysSinceEpoch)
        guard late > 0 else { return self }
        let steps = (late + days - 1) / days
        return CalendarGrid(first: first - Int32(steps * days), from: self)
    }

    private init(first: Int32, from grid: CalendarGrid) {
        (self.first, step, time, gap, overlap) = (first, grid.step, grid.time, grid.gap, grid.overlap)
    }
}

/// The local times of the grid, in seconds since a clock showed 1970-01-01 00:00:00.
extension CalendarGrid: LocalTimes {
    private var origin: Int64 { Int64(first) * 86_400 + Int64(time) }
    private var period: Int64 { Int64(step) * 86_400 }
    private static let end = Int64(CalendarDay.end) * 86_400

    func next(from start: Int64) -> Int64? {
        guard start > origin else { return origin }
        guard start < Self.end else { return nil }
        let found = origin + (start - origin + period - 1) / period * period
        return found < Self.end ? found : nil
    }

    func previous(from start: Int64) -> Int64? {
        let last = min(start, Self.end - 1)
        return last < origin ? nil : last - (last - origin) % period
    }

    func count(in range: Range<Int64>) -> Int {
        countBefore(range.upperBound) - countBefore(range.lowerBound)
    }

    private func countBefore(_ end: Int64) -> Int {
        let end = min(end, Self.end)
        return end > origin ? Int((end - origin + period - 1) / period) : 0
    }
}
