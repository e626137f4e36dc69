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
