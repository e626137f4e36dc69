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
