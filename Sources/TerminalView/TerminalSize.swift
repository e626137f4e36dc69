/// How much a terminal shows.
package struct TerminalSize: Hashable, Sendable {
    /// Cells in a row, at least 1.
    package var columns: Int
    /// Rows on the screen, at least 1.
    package var rows: Int

    /// A size as the terminal reports it; zero counts as 80 by 24.
    package init(columns: Int, rows: Int) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 0 ? rows : 24
    }
}
