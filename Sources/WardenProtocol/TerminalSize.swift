/// How large a terminal is, in characters.
package struct TerminalSize: Hashable, Sendable {
    /// From 1 to 65,535.
    package var rows: Int
    /// From 1 to 65,535.
    package var columns: Int

    /// A size; ``isValid`` says whether a terminal can have it.
    package init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }

    /// Whether the kernel can count so far.
    package var isValid: Bool {
        (1...Int(UInt16.max)).contains(rows) && (1...Int(UInt16.max)).contains(columns)
    }
}
