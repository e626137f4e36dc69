/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Covers about 292,000 years either way. A moment has no zone; see ``ZoneRules`` for local times.
public struct Moment: Hashable, Comparable, Sendable {
    /// Microseconds since the epoch; negative before it.
    public var microseconds: Int64

    /// The moment `microseconds` after the epoch.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The moment whole `seconds` after the epoch.
    public init(seconds: Int64) {
        self.microseconds = seconds * 1_000_000
    }

    /// Whole seconds since the epoch, rounded down.
    public var seconds: Int64 {
        let whole = microseconds / 1_000_000
        return microseconds % 1_000_000 < 0 ? whole - 1 : whole
    }

    /// Whole milliseconds since the epoch, rounded down.
    public var milliseconds: Int64 {
        let whole = microseconds / 1000
        return microseconds % 1000 < 0 ? whole - 1 : whole
    }

    /// Earlier moments are smaller.
    public static func < (left: Moment, right: Moment) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The moment `duration` later; parts below a microsecond are dropped.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(microseconds: moment.microseconds + duration.microseconds)
    }

    /// The moment `duration` earlier; parts below a microsecond are dropped.
    public static func - (moment: Moment, duration: Duration) -> Moment {
        Moment(microseconds: moment.microseconds - duration.microseconds)
    }

    /// The time from `right` to `left`; negative when `left` is the earlier one.
    public static func - (left: Moment, right: Moment) -> Duration {
        .microseconds(left.microseconds - right.microseconds)
    }

    /// Earlier than every moment that occurs.
    public static let distantPast = Moment(microseconds: .min / 4)

    /// Later than every moment that occurs.
    public static let distantFuture = Moment(microseconds: .max / 4)
}

extension Duration {
    /// The whole microseconds in this duration, cut toward zero.
    public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// The whole milliseconds in this duration, cut toward zero.
    public var milliseconds: Int64 { microseconds / 1000 }
}

extension Moment: Codable {
    /// Reads whole microseconds since the epoch, as ``encode(to:)`` writes them.
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes one integer, the microseconds since the epoch: exact, and comparable in a query.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}

/// The clock on the wall: what time it is, and a way to wait for a time.
///
/// Owners hold `any WallClock`; nothing in the package asks the system for the time itself, so that a
/// test can own the clock.
public protocol WallClock: Sendable {
    /// The wall-clock time now. May go back when the clock is set.
    var now: Moment { get }

    /// Time since the machine started, sleep included; never goes back.
    ///
    /// Durations, time-outs and leases are measured on this, never as a difference of two moments.
    /// - Source: clock_gettime(2), `CLOCK_BOOTTIME`.
    var sinceBoot: Duration { get }

    /// Waits until the wall clock shows `moment`, and returns never before it.
    ///
    /// Returns at once when `moment` has passed. Returns early, before `moment`, only when the clock
    /// was set meanwhile: a caller looks at ``now`` again after every return.
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until moment: Moment) async throws
}
