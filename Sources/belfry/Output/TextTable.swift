import API
import TerminalView
import Tracking

/// Rows with aligned columns, for people.
///
/// On a terminal they fit its width: the widest columns are cut, but never the first, which names the row, and never
/// numbers.
struct TextTable {
    /// A cell: its text, and the colour it is shown in.
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var color: TerminalColor

        init(_ text: String, _ color: TerminalColor = .normal) {
            self.text = text
            self.color = color
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    private var rows: [[Cell]]
    private let titles: [String]
    private let rightAligned: Set<Int>
    private let times: Set<Int>

    /// A table without rows.
    ///
    /// - Parameters:
    ///   - titles: the titles of its columns.
    ///   - rightAligned: the columns that stand to the right, as numbers do.
    ///   - times: the columns that are cut only where cutting the others is not enough.
    init(_ titles: [String], rightAligned: Set<Int> = [], times: Set<Int> = []) {
        self.titles = titles
        self.rightAligned = rightAligned
        self.times = times
        rows = []
    }

    /// Adds a row; cells are cleaned of control characters.
    mutating func add(_ cells: [Cell]) {
        rows.append(cells.map { Cell(PlainText.oneLine($0.text), $0.color) })
    }

    /// The lines: a dim title, and the rows; `empty` when there are none.
    func lines(_ screen: Screen, empty: String) -> [String] {
        guard !rows.isEmpty else { return [screen.paint(empty, .dim)] }
        let all = [titles.map { Cell($0, .dim) }] + rows
        var widths = titles.indices.map { column in
            all.map { CellWidth.of($0[column].text) }.max() ?? 0
        }
        if let columns = screen.columns {
            let flexible = Set(titles.indices.dropFirst()).subtracting(rightAligned)
            for columnsToCut in [flexible.subtracting(times), flexible] {
                widths = ColumnFit.widths(widths, flexible: columnsToCut, columns: columns)
            }
        }
        let mark = screen.traits.isUTF8 ? "…" : "..."
        return all.map { row in
            let fitting = zip(row, widths).map { cell, width in
                Cell(ColumnFit.cut(cell.text, to: width, mark: mark), cell.color)
            }
            return line(fitting, widths, screen)
        }
    }

    private func line(_ row: [Cell], _ widths: [Int], _ screen: Screen) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            let gap = String(repeating: " ", count: widths[column] - CellWidth.of(cell.text))
            let text = cell.color == .normal ? cell.text : screen.paint(cell.text, cell.color)
            let isLast = column == row.count - 1
            line += rightAligned.contains(column) ? gap + text : text + (isLast ? "" : gap)
            if !isLast { line += String(repeating: " ", count: ColumnFit.gap) }
        }
        return line
    }
}

extension Screen {
    /// Prints a table.
    func print(_ table: TextTable, empty: String) {
        for line in table.lines(self, empty: empty) { print(line) }
    }

    /// Prints values as one JSON array, or by `text`.
    func list<Value: Encodable>(
        _ values: @autoclosure () -> [Value], asJSON: Bool, text: (Screen) -> Void
    ) throws {
        if asJSON { print(try WireCoding.text(values())) } else { text(self) }
    }
}

/// Text that others wrote, made safe to show.
enum PlainText {
    /// `text` on one line, its spaces kept; see ``CleanText/row(_:)``.
    static func oneLine(_ text: String) -> String { CleanText.row(text) }

    /// `text` as lines of that kind.
    static func lines(_ text: String) -> [String] {
        text.spoken.split(separator: "\n", omittingEmptySubsequences: false).map { oneLine(String($0)) }
    }

    /// The first `limit` characters of `text` on one line; see ``CleanText/line(_:limit:)``.
    static func preview(_ text: String, limit: Int = 100) -> String { CleanText.line(text, limit: limit) }
}
