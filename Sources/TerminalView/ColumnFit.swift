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

    /// `text` in lines of at most `columns` cells, cut at spaces; those after the first begin with `hang` blanks.
    ///
    /// A word that is longer than a line keeps one to itself. Colours take no room.
    package static func wrap(_ text: String, hang: Int, columns: Int) -> [String] {
        var lines: [String] = []
        var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
        var line = String(words.popFirst() ?? "")
        var width = CellWidth.of(withoutColors(line[...]))
        for word in words {
            let cells = CellWidth.of(withoutColors(word))
            if width + 1 + cells > columns, width > hang {
                lines.append(line)
                (line, width) = (String(repeating: " ", count: hang) + word, hang + cells)
            } else {
                line += " " + word
                width += 1 + cells
            }
        }
        return lines + [line]
    }

    /// The text without what sets its colour: `ESC [ 3 2 m`.
    private static func withoutColors(_ text: Substring) -> String {
        guard text.utf8.contains(0x1B) else { return String(text) }
        var plain = ""
        var isColor = false
        for character in text {
            if character == "\u{1B}" { isColor = true }
            if !isColor { plain.append(character) }
            if isColor, character == "m" { isColor = false }
        }
        return plain
    }
}
