/// The changes of one zone, ready for looking up in constant time.
@usableFromInline
final class ZoneTable: Sendable {
    /// Where interval `i` begins, `starts[0]` being `Int64.min`; the last element is the horizon, from which
    /// on only the rule knows.
    @usableFromInline let starts: [Int64]

    /// The offset of interval `i`.
    @usableFromInline let offsets: [Int32]

    /// For every stretch of 2^24 seconds (194 days) from `starts[1]` on, the interval at its beginning.
    @usableFromInline let index: [UInt16]

    let rule: PosixZone?

    /// A table of `changes` in order of time, continued by `rule` after the last of them; `initial` is the
    /// offset before the first.
    init(initial: Int32, changes: [(at: Int64, offset: Int32)], rule: PosixZone?) {
        var all = changes
        if let rule {
            let first = all.last.map { CivilTime(localSeconds: $0.at).date.year } ?? 1900
            let last = all.last?.at ?? .min
            if rule.daylight != nil {
                let future = (first - 1...max(first, ZoneTable.lastYear)).flatMap(rule.changes(in:))
                all += PosixZone.merged(future).filter { $0.at > last }
            }
        }
        var starts = [Int64.min]
        var offsets = [initial]
        for change in all where change.offset != offsets[offsets.count - 1] {
            starts.append(change.at)
            offsets.append(change.offset)
        }
        // The last change stands for the horizon: its interval would end where the rule alone knows.
        if rule?.daylight != nil, starts.count > 2 { offsets.removeLast() } else { starts.append(.max) }
        self.starts = starts
        self.offsets = offsets
        self.rule = rule
        index = ZoneTable.makeIndex(starts)
    }

    /// Changes are listed through this year; the rule is asked afterwards.
    private static let lastYear = 2201

    private static func makeIndex(_ starts: [Int64]) -> [UInt16] {
        let first = starts[1]
        guard first != .max else { return [] }
        let lastChange =
            starts[starts.count - 1] == .max ? starts[starts.count - 2] : starts[starts.count - 1]
        var index: [UInt16] = []
        var interval = 1
        for bucket in 0...((lastChange - first) >> 24) {
            while starts[interval + 1] <= first + bucket << 24 { interval += 1 }
            index.append(UInt16(interval))
            if interval + 2 == starts.count { break }
        }
        return index
    }

    @inlinable
    func interval(at seconds: Int64) -> ZoneInterval {
        let first = starts[1]
        if seconds < first {
            return ZoneInterval(startSeconds: .min, endSeconds: first, offsetSeconds: offsets[0])
        }
        if seconds >= starts[starts.count - 1] { return lateInterval(at: seconds) }
        let bucket = Int(truncatingIfNeeded: (seconds &- first) >> 24)
        var number = Int(index[min(bucket, index.count - 1)])
        while starts[number + 1] <= seconds { number += 1 }
        return ZoneInterval(
            startSeconds: starts[number], endSeconds: starts[number + 1], offsetSeconds: offsets[number])
    }

    /// What holds from the horizon on.
    @usableFromInline
    func lateInterval(at seconds: Int64) -> ZoneInterval {
        rule?.interval(at: seconds)
            ?? ZoneInterval(
                startSeconds: starts[starts.count - 1], endSeconds: .max,
                offsetSeconds: offsets[offsets.count - 1])
    }
}
