/// A file's name and text, and how to point into it.
package struct SourceText: Hashable, Sendable {
    /// As a person should read it in an error.
    package let name: String
    package let text: String
    /// As YAML breaks them; every one ends before its line break.
    let lines: [Substring]

    /// A text; a byte order mark at its beginning is no part of it.
    package init(name: String, text: String) {
        self.name = name
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        self.text = text
        self.lines = Self.lines(of: text)
    }

    /// The line with this number, counted from 1; empty when there is none.
    func line(_ number: Int) -> Substring {
        lines.indices.contains(number - 1) ? lines[number - 1] : ""
    }

    /// A problem at a place that YAML gave, which counts columns in Unicode scalars from 1.
    func problem(line: Int, column: Int, width: Int = 1, _ message: String, hint: String? = nil) -> Problem {
        let scalars = self.line(line).unicodeScalars
        let lead = Self.harmless(String(String.UnicodeScalarView(scalars.prefix(max(0, column - 1)))))
        let excerpt = Self.harmless(String(scalars))
        let room = max(1, excerpt.count - lead.count)
        return Problem(
            file: name, line: line, column: lead.count + 1, width: min(max(1, width), room),
            message: Self.harmless(message), hint: hint.map(Self.harmless), excerpt: excerpt)
    }

    /// The line and column, from 1, of a character's offset in the text.
    func place(ofCharacter offset: Int) -> (line: Int, column: Int) {
        let end =
            text.index(text.startIndex, offsetBy: max(0, offset), limitedBy: text.endIndex) ?? text.endIndex
        let before = Self.lines(of: String(text[..<end]))
        return (before.count, (before.last?.unicodeScalars.count ?? 0) + 1)
    }

    /// Breaks where YAML does: at LF, CR, CR LF, and the three breaks of Unicode.
    ///
    /// `split` would take CR LF for one character that is neither.
    private static func lines(of text: String) -> [Substring] {
        let scalars = text.unicodeScalars
        var lines: [Substring] = []
        var start = scalars.startIndex
        var index = start
        while index < scalars.endIndex {
            let next = scalars.index(after: index)
            switch scalars[index] {
            case "\r" where next < scalars.endIndex && scalars[next] == "\n":
                lines.append(text[start..<index])
                start = scalars.index(after: next)
                index = start
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
                lines.append(text[start..<index])
                start = next
                index = next
            default: index = next
            }
        }
        lines.append(text[start...])
        return lines
    }

    /// A text that is one line and can't command a terminal.
    private static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isControl($0) && $0 != "\t" }) else { return text }
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            clean.append(isControl(scalar) && scalar != "\t" ? "\u{FFFD}" : scalar)
        }
        return String(clean)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
