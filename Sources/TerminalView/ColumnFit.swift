/// Fits the columns of a table into the width of a terminal.
package enum ColumnFit {
    /// The blanks between two columns.
    package static let gap = 2

    /// The cells each column gets: the widest of those that may be cut lose theirs first.
    ///
    /// - Parameters:
    ///   - natural: the cells of each column's longest text.
    ///   - flexible: the columns that may be cut.
    ///   - least: no column is cut to less, also where the table is too wide then.
    ///   - columns: the cells of a line.
    /// - Returns: the cells of each column.
    package static func widths(
        _ natural: [Int], flexible: Set<Int>, least: Int = 8, columns: Int
    ) -> [Int] {
        var widths = natural
        var excess = natural.reduce(0, +) + gap * max(0, natural.count - 1) - columns
        while excess > 0 {
            let wide = flexible.filter { widths[$0] > least }
            guard let most = wide.map({ widths[$0] }).max() else { break }
            let widest = wide.filter { widths[$0] == most }
            // Down to the next one at once, all of the widest alike.
            let next = max(least, wide.map { widths[$0] }.filter { $0 < most }.max() ?? least)
            let step = max(1, min(most - next, excess / widest.count))
            for column in widest.sorted() where excess > 0 {
                let cut = min(step, excess)
                widths[column] -= cut
                excess -= cut
            }
        }
        return widths
    }

    /// `text` in at most `cells` cells, `mark` in place of what is cut off.
    package static func cut(_ text: String, to cells: Int, mark: String = "…") -> String {
        guard CellWidth.of(text) > cells else { return text }
        let room = cells - CellWidth.of(mark)
        var (shown, width) = ("", 0)
        for character in text {
            width += CellWidth.of(character)
            guard width <= room else { break }
            shown.append(character)
        }
        return shown + mark
    }
}
