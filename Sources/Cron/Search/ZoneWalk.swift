import Timeline

/// A set of local times, in seconds since a clock showed 1970-01-01 00:00:00.
protocol LocalTimes {
    /// The first of them at or after `start`.
    func next(from start: Int64) -> Int64?
    /// The last of them at or before `start`.
    func previous(from start: Int64) -> Int64?
    /// How many of them lie in `range`.
    func count(in range: Range<Int64>) -> Int
}

extension CronPlan: LocalTimes {}

/// Carries matches of a plan from local time to moments: which stretch of which offset they fall in, and
/// what happens to those that the clock skips or repeats.
///
/// Each stretch contributes the local times from `low` up to `high`, and, if the clock jumped over matches
/// at its beginning, one run there. The set of all of them is the set of occurrences.
struct ZoneWalk<Plan: LocalTimes> {
    let plan: Plan
    /// Whether skipped and repeated times are treated (fixed-time jobs), or just follow the clock.
    let isFixed: Bool
    let gap: CronOptions.Gap
    let overlap: CronOptions.Overlap
    let zone: ZoneRules

    /// A clock that jumped further was corrected, and nothing is made up for.
    static var longestGap: Int64 { 3 * 3600 }

    /// No clock change reaches further than this, nor do two offsets differ by more.
    static var reach: Int64 { 2 * 86_400 }

    /// What one interval contributes, in local seconds.
    struct Stretch {
        var low: Int64
        var high: Int64
        /// The local times that were skipped right before the interval and are made up for at its start.
        var skipped: Range<Int64>?
    }

    func stretch(of interval: ZoneInterval) -> Stretch {
        let offset = Int64(interval.offsetSeconds)
        let hasStart = interval.startSeconds != .min
        let hasEnd = interval.endSeconds != .max
        var stretch = Stretch(
            low: hasStart ? interval.startSeconds + offset : .min,
            high: hasEnd ? interval.endSeconds + offset : .max)
        guard isFixed else { return stretch }
        if hasStart {
            let before = zone.interval(atSeconds: interval.startSeconds - 1)
            let shown = interval.startSeconds + Int64(before.offsetSeconds)
            let size = stretch.low - shown
            if size > 0, size <= Self.longestGap, gap == .runAfter {
                stretch.skipped = shown..<stretch.low
            } else if size < 0, overlap == .first {
                stretch.low = shown
            }
        }
        if hasEnd, overlap == .last {
            let after = zone.interval(atSeconds: interval.endSeconds)
            stretch.high = min(stretch.high, interval.endSeconds + Int64(after.offsetSeconds))
        }
        return stretch
    }

    /// Whether the local times that were jumped over hold a match.
    private func hasMatch(in skipped: Range<Int64>?) -> Bool {
        guard let skipped, let match = plan.next(from: skipped.lowerBound) else { return false }
        return match < skipped.upperBound
    }

    /// The first occurrence at or after the second `start`.
    @inline(__always)
    func next(from start: Int64) -> Int64? {
        let interval = zone.interval(atSeconds: start)
        let offset = Int64(interval.offsetSeconds)
        // Far from any change of the clock there is nothing to weigh.
        if interval.startSeconds == .min || start &- interval.startSeconds > Self.reach {
            guard let match = plan.next(from: start &+ offset) else {
                return interval.endSeconds == .max ? nil : slowNext(from: start, in: interval)
            }
            let found = match &- offset
            if interval.endSeconds == .max || found < interval.endSeconds &- Self.reach { return found }
            if start < interval.endSeconds &- Self.reach {
                let other = zone.interval(atSeconds: found)
                let moved = match &- Int64(other.offsetSeconds)
                if moved &- Self.reach > other.startSeconds, moved &+ Self.reach < other.endSeconds {
                    return moved
                }
            }
        }
        return slowNext(from: start, in: interval)
    }

    @inline(never)
    private func slowNext(from start: Int64, in first: ZoneInterval) -> Int64? {
        var interval = first
        var cursor = start
        while true {
            let offset = Int64(interval.offsetSeconds)
            let stretch = stretch(of: interval)
            if cursor == interval.startSeconds, hasMatch(in: stretch.skipped) { return cursor }
            let from = max(cursor + offset, stretch.low)
            let match = plan.next(from: from)
            if let match, match < stretch.high { return match - offset }
            guard interval.endSeconds != .max else { return nil }
            var following = interval.endSeconds
            if let match {
                // Nothing matches before it, so stretches that end before it need no look. The nearest
                // change is looked at in any case: it may repeat times before `from`.
                if following - cursor > Self.reach { following = max(following, match - Self.reach) }
            } else if following + Int64(zone.interval(atSeconds: following).offsetSeconds) >= from {
                return nil
            }
            interval = zone.interval(atSeconds: following)
            cursor = max(following, interval.startSeconds)
        }
    }

    /// The last occurrence at or before the second `start`.
    @inline(__always)
    func previous(from start: Int64) -> Int64? {
        let interval = zone.interval(atSeconds: start)
        let offset = Int64(interval.offsetSeconds)
        if interval.endSeconds == .max || interval.endSeconds &- start > Self.reach,
            interval.startSeconds == .min || start &- interval.startSeconds > Self.reach
        {
            guard let match = plan.previous(from: start &+ offset) else {
                return interval.startSeconds == .min ? nil : slowPrevious(from: start, in: interval)
            }
            let found = match &- offset
            if interval.startSeconds == .min || found > interval.startSeconds &+ Self.reach {
                return found
            }
            let other = zone.interval(atSeconds: found)
            let moved = match &- Int64(other.offsetSeconds)
            if moved &+ Self.reach < other.endSeconds,
                other.startSeconds == .min || moved &- Self.reach > other.startSeconds
            {
                return moved
            }
        }
        return slowPrevious(from: start, in: interval)
    }

    @inline(never)
    private func slowPrevious(from start: Int64, in first: ZoneInterval) -> Int64? {
        var interval = first
        var cursor = start
        while true {
            let offset = Int64(interval.offsetSeconds)
            let stretch = stretch(of: interval)
            let from = min(cursor + offset, stretch.high == .max ? .max : stretch.high - 1)
            let match = plan.previous(from: from)
            if let match, match >= stretch.low { return match - offset }
            if hasMatch(in: stretch.skipped) { return interval.startSeconds }
            guard interval.startSeconds != .min else { return nil }
            var preceding = interval.startSeconds - 1
            if let match {
                if cursor - preceding > Self.reach { preceding = min(preceding, match + Self.reach) }
            } else if preceding + Int64(zone.interval(atSeconds: preceding).offsetSeconds) <= from {
                return nil
            }
            interval = zone.interval(atSeconds: preceding)
            cursor = min(preceding, interval.endSeconds - 1)
        }
    }

    /// How many occurrences lie in the seconds `range`.
    func count(in range: Range<Int64>) -> Int {
        var total = 0
        var cursor = range.lowerBound
        while cursor < range.upperBound {
            let interval = zone.interval(atSeconds: cursor)
            let offset = Int64(interval.offsetSeconds)
            let stretch = stretch(of: interval)
            let end = min(range.upperBound, interval.endSeconds)
            let low = max(cursor + offset, stretch.low)
            let high = min(end == .max ? .max : end + offset, stretch.high)
            if low < high { total += plan.count(in: low..<high) }
            // A run made up for at the very start of the stretch may coincide with an ordinary one there.
            if cursor == interval.startSeconds, hasMatch(in: stretch.skipped),
                plan.next(from: cursor + offset) != cursor + offset
            {
                total += 1
            }
            cursor = end
        }
        return total
    }
}
