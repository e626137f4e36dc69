/// One thing that is wrong in a configuration, with its place.
package struct WireFault: Hashable, Sendable, Codable {
    /// The file, as it was named.
    package var file: String
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in characters.
    package var column: Int
    /// One sentence without a full stop.
    package var message: String
    /// What to write instead, where that is known.
    package var hint: String?

    /// A fault at a place.
    package init(file: String, line: Int, column: Int, message: String, hint: String?) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint
    }
}
