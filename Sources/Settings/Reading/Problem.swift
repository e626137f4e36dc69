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

/// One thing that is wrong in a file, with its place.
package struct Problem: Hashable, Sendable {
    package var file: String
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in characters.
    package var column: Int
    /// How many characters are at fault; 1 or more.
    package var width: Int
    /// One sentence without a full stop.
    package var message: String
    /// What to write instead, where that is known.
    package var hint: String?
    /// The line itself.
    package var excerpt: String

    package init(
        file: String, line: Int, column: Int, width: Int, message: String, hint: String?, excerpt: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.width = width
        self.message = message
        self.hint = hint
        self.excerpt = excerpt
    }
}

extension Problem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: message`, the line, and carets under the place.
    ///
    /// Of a line too long for a terminal the part around the place is shown.
    package var description: String {
        var text = "\(file):\(line):\(column): \(message)"
        if let hint { text += "; \(hint)" }
        guard !excerpt.isEmpty else { return text }
        let cut = excerpt.count > Self.longestLine ? max(0, column - 1 - Self.longestLine / 2) : 0
        let shown = excerpt.dropFirst(cut).prefix(Self.longestLine)
        let lead = shown.prefix(column - 1 - cut).map { $0 == "\t" ? $0 : " " }
        let carets = String(repeating: "^", count: max(1, min(width, shown.count - lead.count)))
        return text + "\n  \(shown)\n  " + String(lead) + carets
    }

    private static let longestLine = 100

    /// The same with every secret replaced by what may be shown of it, which is as long.
    func hiding(_ secrets: [(secret: String, shown: String)]) -> Problem {
        var problem = self
        for (secret, shown) in secrets {
            problem.message = Self.replace(secret, in: problem.message, by: shown)
            problem.excerpt = Self.replace(secret, in: problem.excerpt, by: shown)
        }
        return problem
    }

    private static func replace(_ part: String, in text: String, by other: String) -> String {
        var result = ""
        var rest = text[...]
        while let range = rest.firstRange(of: part) {
            result += rest[..<range.lowerBound] + other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

/// Everything that is wrong in a configuration; never empty.
package struct SettingsError: Error, Hashable, Sendable {
    /// In the order of the files and their lines; of very many the first ``longestList``.
    package var problems: [Problem]

    /// How many problems are kept: a text of a megabyte can hold very many.
    package static let longestList = 1000

    /// What is allowed but perhaps not meant, in the parts without a fault.
    package var warnings: [Problem]

    /// How parts of the files are understood that people read in two ways.
    package var notes: [Problem]

    package init(problems: [Problem], warnings: [Problem] = [], notes: [Problem] = []) {
        self.problems = problems
        self.warnings = warnings
        self.notes = notes
    }
}

extension SettingsError: CustomStringConvertible {
    /// The first twenty, each with its line and caret, and how many there are besides.
    package var description: String {
        let shown = problems.prefix(20).map(\.description)
        let rest = problems.count - shown.count
        let more = rest > 0 ? ["and \(rest) more"] : []
        return (shown + more).joined(separator: "\n")
    }
}

/// All that was found to be wrong so far; reading goes on after each fault, so that a person sees them at once.
final class Faults {
    private(set) var problems: [Problem] = []
    var warnings: [Problem] = []
    var notes: [Problem] = []
    private var visited = 0
    private var hidden: [(secret: String, shown: String)] = []

    /// A file of a hundred bytes can name a billion elements, through aliases of aliases.
    private static let mostElements = 2_000_000

    func add(_ problem: Problem) {
        guard problems.count < SettingsError.longestList else { return }
        problems.append(problem)
    }

    /// Makes sure that `secret` is in no problem or warning, whatever line it stands in.
    func hide(_ secret: String, shownAs shown: String) {
        if !secret.isEmpty { hidden.append((secret, shown)) }
    }

    /// Problems without what is to be hidden.
    func cleaned(_ problems: [Problem]) -> [Problem] {
        hidden.isEmpty ? problems : problems.map { $0.hiding(hidden) }
    }

    /// Counts elements that are about to be read; false, after saying so once, when they are too many.
    func mayVisit(_ count: Int, of field: Field) -> Bool {
        guard visited <= Self.mostElements else { return false }
        visited += count
        guard visited > Self.mostElements else { return true }
        field.fault("the file has more than \(Self.mostElements) elements")
        return false
    }
}
