/// A unit file of systemd: settings in sections, in their order.
///
/// A line that ends in a backslash continues in the next one. An empty value takes back the settings of its
/// name above it, as systemd does for lists.
/// - Source: systemd.syntax(7).
public struct UnitFile: Hashable, Sendable {
    /// One setting.
    public struct Setting: Hashable, Sendable {
        /// Its section: `Timer`.
        public var section: String
        /// Its name: `OnCalendar`.
        public var name: String
        /// What is right of the equals sign, without blanks around it.
        public var value: String
        /// The line it begins in, from 1.
        public var line: Int
    }

    /// All settings that hold, in order.
    public let settings: [Setting]

    /// Reads `text`; lines that are no settings are left out.
    public init(_ text: String) {
        var reader = Reader()
        // The parts of a line that continues, and where it begins.
        var parts: [Substring] = []
        var start = 1
        // Bytes: to a Character, a carriage return and a line end are one.
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (number, raw) in lines.enumerated() {
            let line = Self.trimmed(Substring(raw))
            // A comment in between does not end a continued line.
            if line.hasPrefix("#") || line.hasPrefix(";") || line.isEmpty && parts.isEmpty { continue }
            if parts.isEmpty { start = number + 1 }
            let goesOn = line.hasSuffix("\\")
            parts.append(goesOn ? Self.trimmed(line.dropLast()) : line)
            if goesOn { continue }
            reader.read(parts.joined(separator: " "), line: start)
            parts = []
        }
        if !parts.isEmpty { reader.read(parts.joined(separator: " "), line: start) }
        settings = reader.settings.enumerated()
            .filter { $0.offset >= reader.takenBack[[$0.element.section, $0.element.name]] ?? 0 }
            .map(\.element)
    }

    /// Takes in whole lines.
    private struct Reader {
        var section = ""
        var settings: [Setting] = []
        /// How many settings there were when those of a section and name were last taken back.
        var takenBack: [[String]: Int] = [:]

        mutating func read(_ text: String, line: Int) {
            if text.hasPrefix("["), text.hasSuffix("]") {
                section = String(text.dropFirst().dropLast())
            } else if let equals = text.firstIndex(of: "=") {
                let name = String(trimmed(text[..<equals]))
                let value = String(trimmed(text[text.index(after: equals)...]))
                if value.isEmpty {
                    takenBack[[section, name]] = settings.count
                } else {
                    settings.append(Setting(section: section, name: name, value: value, line: line))
                }
            }
        }
    }

    /// The settings of that name, in order.
    public func all(_ section: String, _ name: String) -> [Setting] {
        settings.filter { $0.section == section && $0.name == name }
    }

    /// The value of that name; of several the last.
    public func value(_ section: String, _ name: String) -> String? { all(section, name).last?.value }

    private static func trimmed(_ text: some StringProtocol) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var rest = Substring(text).drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}

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
