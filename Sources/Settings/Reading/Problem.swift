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
    package var mend: String?
    /// The line itself.
    package var excerpt: String

    package init(
        file: String, line: Int, column: Int, width: Int, message: String, mend: String?, excerpt: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.width = width
        self.message = message
        self.mend = mend
        self.excerpt = excerpt
    }
}

extension Problem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: message`, the line, and carets under the place.
    package var description: String {
        var text = "\(file):\(line):\(column): \(message)"
        if let mend { text += "; \(mend)" }
        guard !excerpt.isEmpty else { return text }
        let lead = excerpt.prefix(column - 1).map { $0 == "\t" ? $0 : " " }
        return text + "\n  \(excerpt)\n  " + String(lead) + String(repeating: "^", count: max(1, width))
    }
}

/// Everything that is wrong in a configuration; never empty.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    package var problems: [Problem]

    package init(problems: [Problem]) {
        self.problems = problems
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
