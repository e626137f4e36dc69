/// A time span of systemd: `5min`, `1h 30min`, `6000`.
///
/// - Source: systemd.time(7), "Parsing Time Spans".
package struct TimeSpan: Hashable, Sendable {
    /// The length; whole microseconds.
    package let duration: Duration

    private static let units: [String: Int64] = {
        let all: [(names: [String], microseconds: Int64)] = [
            (["us", "usec"], 1), (["ms", "msec"], 1000),
            (["", "s", "sec", "second", "seconds"], 1_000_000),
            (["m", "min", "minute", "minutes"], 60_000_000),
            (["h", "hr", "hour", "hours"], 3_600_000_000),
            (["d", "day", "days"], 86_400_000_000),
            (["w", "week", "weeks"], 604_800_000_000),
            // 30.44 days and 365.25 days.
            (["M", "month", "months"], 2_630_016_000_000),
            (["y", "year", "years"], 31_557_600_000_000),
        ]
        return Dictionary(
            uniqueKeysWithValues: all.flatMap { unit in
                unit.names.map { ($0, unit.microseconds) }
            })
    }()

    /// Reads a span; `nil` for what is none, or is longer than a hundred years.
    package init?(_ text: String) {
        var total: Int64 = 0
        var rest = text[...].drop { $0 == " " }
        guard !rest.isEmpty, text.utf8.count <= 100 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let unit = rest.prefix { ("a"..."z").contains($0) || $0 == "M" }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            guard digits.utf8.count <= 10, let number = Int64(digits), let size = Self.units[String(unit)]
            else {
                return nil
            }
            let (part, isOver) = number.multipliedReportingOverflow(by: size)
            guard !isOver, part <= Self.longest - total else { return nil }
            total += part
        }
        duration = .microseconds(total)
    }

    private static let longest: Int64 = 100 * 366 * 86_400_000_000
}
