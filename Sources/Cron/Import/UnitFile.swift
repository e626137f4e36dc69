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
