/// A time zone: which offset from UTC its clocks have at which moment.
///
/// A value holds all changes known for the past and the rule for the future, so it never reads a file;
/// copying it is cheap. Offsets are whole seconds east of UTC and may be of any size the data names.
/// - Source: RFC 9636 (TZif).
public struct ZoneRules: Sendable {
    /// The name it was loaded under, such as `Europe/Berlin`.
    public let name: String

    /// The changes; `nil` for a zone that never has any, so that ``utc`` costs nothing to make.
    @usableFromInline let table: ZoneTable?

    /// The offset where there is no table.
    @usableFromInline let fixedOffset: Int32

    /// Universal time: offset zero, no change ever.
    @inlinable public static var utc: ZoneRules { ZoneRules(name: "UTC", offsetSeconds: 0) }

    /// A zone whose clocks are always `offsetSeconds` east of UTC.
    @inlinable
    public init(name: String, offsetSeconds: Int) {
        self.name = name
        table = nil
        fixedOffset = Int32(offsetSeconds)
    }

    /// The zone that a compiled time zone file describes.
    ///
    /// - Parameters:
    ///   - name: Its name; the file does not contain it.
    ///   - bytes: The whole content of a file of `/usr/share/zoneinfo`.
    /// - Throws: ``TimelineError/Problem/notZoneData`` or ``TimelineError/Problem/notAZoneRule`` with the
    ///   byte offset in the file.
    public init(name: String, tzif bytes: [UInt8]) throws(TimelineError) {
        self.name = name
        table = try TZifDecoder.decode(bytes)
        fixedOffset = 0
    }

    /// The zone of a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3`, followed in every year.
    ///
    /// - Throws: ``TimelineError/Problem/notAZoneRule``.
    public init(name: String, posix rule: String) throws(TimelineError) {
        self.name = name
        let zone = try PosixZoneParser.parse(Array(rule.utf8))
        table = ZoneTable(initial: zone.standard, changes: [], rule: zone)
        fixedOffset = 0
    }

    /// Seconds east of UTC at `moment`.
    public func offsetSeconds(at moment: Moment) -> Int {
        Int(interval(atSeconds: moment.seconds).offsetSeconds)
    }

    /// The stretch of constant offset that holds the second `seconds` after the epoch.
    ///
    /// - Complexity: O(1) until the year 2200; after it a few dozen operations.
    @inlinable
    public func interval(atSeconds seconds: Int64) -> ZoneInterval {
        table?.interval(at: seconds)
            ?? ZoneInterval(startSeconds: .min, endSeconds: .max, offsetSeconds: fixedOffset)
    }

    /// The first change of the offset strictly after `moment`; `nil` when the clock never moves again.
    public func nextTransition(after moment: Moment) -> Moment? {
        let end = interval(atSeconds: moment.seconds).endSeconds
        return end == .max ? nil : Moment(seconds: end)
    }

    /// The moments at which clocks here show the local time `localSeconds` after 1970-01-01 00:00:00.
    public func instants(of localSeconds: Int64) -> LocalInstants {
        // No offset is larger than 26 hours, so a moment in question lies in one of these intervals.
        var interval = interval(atSeconds: localSeconds - 93_600)
        var found: [Int64] = []
        var gap: (at: Int64, size: Int64)?
        while true {
            let instant = localSeconds - Int64(interval.offsetSeconds)
            if interval.contains(seconds: instant) { found.append(instant) }
            guard interval.endSeconds <= localSeconds + 93_600 else { break }
            let next = self.interval(atSeconds: interval.endSeconds)
            let before = interval.endSeconds + Int64(interval.offsetSeconds)
            let after = interval.endSeconds + Int64(next.offsetSeconds)
            if before <= localSeconds, localSeconds < after { gap = (interval.endSeconds, after - before) }
            interval = next
        }
        if let first = found.first, let last = found.last {
            return first == last
                ? .unique(Moment(seconds: first))
                : .overlap(first: Moment(seconds: first), second: Moment(seconds: last))
        }
        // Every local time is shown or skipped, so there is a gap when nothing was found.
        let skipped = gap ?? (at: localSeconds - Int64(interval.offsetSeconds), size: 0)
        return .gap(transition: Moment(seconds: skipped.at), size: .seconds(skipped.size))
    }

    /// The moments at which clocks here show `time`, its microseconds left aside.
    public func instants(of time: CivilTime) -> LocalInstants {
        instants(of: time.localSeconds)
    }
}

extension ZoneRules: Equatable {
    /// Whether both have one name and the same clocks at every moment.
    public static func == (left: ZoneRules, right: ZoneRules) -> Bool {
        guard left.name == right.name, left.fixedOffset == right.fixedOffset else { return false }
        guard let table = left.table, let other = right.table else { return left.table === right.table }
        return table === other
            || table.starts == other.starts && table.offsets == other.offsets && table.rule == other.rule
    }
}

/// The moments at which clocks of a zone show one local time.
public enum LocalInstants: Hashable, Sendable {
    /// They show it once.
    case unique(Moment)

    /// They never show it: at `transition` the clock was moved forward by `size`, over it.
    case gap(transition: Moment, size: Duration)

    /// They show it twice: the clock was moved back in between.
    case overlap(first: Moment, second: Moment)

    /// The earliest of them; for a missing local time the first moment after the gap.
    public var first: Moment {
        switch self {
        case .unique(let moment), .gap(let moment, _), .overlap(let moment, _): moment
        }
    }
}

/// A stretch of time in which a zone's offset does not change.
public struct ZoneInterval: Hashable, Sendable {
    /// The first second, since the epoch; `Int64.min` when there is no change before.
    public var startSeconds: Int64

    /// The second of the next change; `Int64.max` when there is none.
    public var endSeconds: Int64

    /// Seconds east of UTC.
    public var offsetSeconds: Int32

    @inlinable
    init(startSeconds: Int64, endSeconds: Int64, offsetSeconds: Int32) {
        self.startSeconds = startSeconds
        self.endSeconds = endSeconds
        self.offsetSeconds = offsetSeconds
    }

    /// Whether the second `seconds` after the epoch lies in it.
    @inlinable
    public func contains(seconds: Int64) -> Bool {
        seconds >= startSeconds && seconds < endSeconds
    }
}

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
