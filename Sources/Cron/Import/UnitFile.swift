/// A unit file of systemd: settings in sections, in their order.
///
/// A line that ends in a backslash goes on in the next one. An empty value takes back the settings of its
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
    public private(set) var settings: [Setting] = []

    /// Reads `text`; lines that are no settings are left out.
    public init(_ text: String) {
        var section = ""
        var pending: (text: String, line: Int)?
        // Bytes: to a Character, a carriage return and a line end are one.
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (number, raw) in lines.enumerated() {
            let line = Self.trimmed(Substring(raw))
            if pending == nil, line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            // A comment in between does not end a continued line.
            if pending != nil, line.hasPrefix("#") || line.hasPrefix(";") { continue }
            let start = pending?.line ?? number + 1
            let whole = (pending.map { $0.text + " " } ?? "") + line
            if whole.hasSuffix("\\") {
                pending = (String(Self.trimmed(whole.dropLast())), start)
                continue
            }
            pending = nil
            if whole.hasPrefix("["), whole.hasSuffix("]") {
                section = String(whole.dropFirst().dropLast())
            } else if let equals = whole.firstIndex(of: "=") {
                let name = String(Self.trimmed(whole[..<equals]))
                let value = String(Self.trimmed(whole[whole.index(after: equals)...]))
                if value.isEmpty {
                    settings.removeAll { $0.section == section && $0.name == name }
                } else {
                    settings.append(Setting(section: section, name: name, value: value, line: start))
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
