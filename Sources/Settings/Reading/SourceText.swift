/// A file's name and text, and how to point into it.
package struct SourceText: Hashable, Sendable {
    /// As a person should read it in an error.
    package let name: String
    package let text: String
    let lines: [Substring]

    package init(name: String, text: String) {
        self.name = name
        self.text = text
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    func line(_ number: Int) -> String {
        guard lines.indices.contains(number - 1) else { return "" }
        let line = lines[number - 1]
        return String(line.last == "\r" ? line.dropLast() : line)
    }

    func problem(line: Int, column: Int, width: Int = 1, _ message: String, mend: String? = nil) -> Problem {
        let excerpt = self.line(line)
        let room = max(1, excerpt.count - column + 1)
        return Problem(
            file: name, line: line, column: column, width: min(max(1, width), room), message: message,
            mend: mend, excerpt: excerpt)
    }
}
