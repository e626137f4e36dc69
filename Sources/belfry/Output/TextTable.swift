import API
import TerminalView
import Tracking

/// Rows with aligned columns, for people.
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

    /// A table without rows; columns in `rightAligned` stand to the right, as numbers do.
    init(_ titles: [String], rightAligned: Set<Int> = []) {
        self.titles = titles
        self.rightAligned = rightAligned
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
        let widths = titles.indices.map { column in
            all.map { CellWidth.of($0[column].text) }.max() ?? 0
        }
        return all.map { row in line(row, widths, screen) }
    }

    private func line(_ row: [Cell], _ widths: [Int], _ screen: Screen) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            let gap = String(repeating: " ", count: widths[column] - CellWidth.of(cell.text))
            let text = cell.color == .normal ? cell.text : screen.paint(cell.text, cell.color)
            let isLast = column == row.count - 1
            line += rightAligned.contains(column) ? gap + text : text + (isLast ? "" : gap)
            if !isLast { line += "  " }
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
        _ values: [Value], asJSON: Bool, text: (Screen) -> Void
    ) throws {
        if asJSON { print(try WireCoding.text(values)) } else { text(self) }
    }
}

/// Text that others wrote, made safe to show.
enum PlainText {
    /// `text` on one line without terminal sequences and control characters, so that it can't move the cursor or
    /// change colours.
    static func oneLine(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in SpokenScalars(text) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: clean.append(" ")
            case .surrogate, .privateUse, .unassigned: clean.append("\u{FFFD}")
            case .format where scalar != "\u{200D}": break
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }

    /// `text` as lines of that kind.
    static func lines(_ text: String) -> [String] {
        text.spoken.split(separator: "\n", omittingEmptySubsequences: false).map { oneLine(String($0)) }
    }

    /// The first `limit` characters of `text` on one line, with an ellipsis where some are missing.
    static func preview(_ text: String, limit: Int = 100) -> String {
        let line = oneLine(text)
        return line.count <= limit ? line : line.prefix(limit - 1) + "…"
    }
}
