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
