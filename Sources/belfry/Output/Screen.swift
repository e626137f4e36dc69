import API
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// Where text for people goes: its colours, and the zone of times.
struct Screen {
    let traits: TerminalTraits
    let zone: ZoneRules
    let now: Moment
    /// The cells of a line on a terminal; nil where there is no terminal.
    let columns: Int?

    init(color: TerminalTraits.Wish, progress: TerminalTraits.Progress = .auto) {
        traits = TerminalTraits(
            progress: progress, color: color, isTerminal: StandardOutput.isTerminal,
            environment: Machine.environment)
        zone = Zones.local
        now = .now
        columns = StandardOutput.isTerminal ? TerminalSize(of: STDOUT_FILENO).columns : nil
    }

    func print(_ text: String) { StandardOutput.print(text) }

    /// Prints prose, on a terminal in lines that fit it; those after the first begin with `hang` blanks.
    func print(_ text: String, hang: Int) {
        guard let columns, columns >= hang + 20 else { return print(text) }
        for line in ColumnFit.wrap(text, hang: hang, columns: columns) { print(line) }
    }

    /// A line of what is known of one thing; none where `text` is nil.
    ///
    /// What may be copied, as a command, is `asIs`: the terminal breaks it where it has to.
    func field(_ name: String, _ text: String?, asIs: Bool = false) {
        guard let text else { return }
        let lead = max(10, name.count + 1)
        let line = paint(name.padded(to: lead), .dim) + PlainText.oneLine(text)
        if asIs { print(line) } else { print(line, hang: lead) }
    }

    /// `text` in a colour, where colours are shown.
    func paint(_ text: String, _ color: TerminalColor) -> String {
        traits.usesColor ? color.sequence + text + TerminalColor.normal.sequence : text
    }

    /// A time in a column or a line: `02:30:05` today, `Mon 23 Nov 02:30` on another day; `-` when there is none.
    ///
    /// Where no terminal shows it, ISO 8601, as ``fullTime(_:of:)``.
    func time(_ timestamp: Timestamp?) -> String {
        written(timestamp, zone) { DisplayTime.short($0, in: zone, at: now) }
    }

    /// A time in the zone of a job, with its offset where that is not the zone of this machine.
    func time(_ timestamp: Timestamp?, of job: WireJob) -> String {
        let rules = rules(of: job)
        return written(timestamp, rules) { moment in
            let offset = rules.name == zone.name ? "" : " (\(DisplayTime.offset(moment, in: rules)))"
            return DisplayTime.short(moment, in: rules, at: now) + offset
        }
    }

    /// A time on its own: `Mon 23 Nov 03:00 (+01:00)`, in the zone of a job where one is given.
    func fullTime(_ timestamp: Timestamp?, of job: WireJob? = nil) -> String {
        fullTime(timestamp, in: job.map(rules) ?? zone)
    }

    /// The same in a zone.
    func fullTime(_ timestamp: Timestamp?, in rules: ZoneRules) -> String {
        written(timestamp, rules) { DisplayTime.full($0, in: rules, at: now) }
    }

    /// The zone of a job's schedule, else that of this machine.
    func rules(of job: WireJob) -> ZoneRules {
        guard let name = job.schedule.zone, name != zone.name else { return zone }
        return Zones.rules(name) ?? zone
    }

    private func written(
        _ timestamp: Timestamp?, _ rules: ZoneRules, _ display: (Moment) -> String
    ) -> String {
        guard let moment = timestamp?.moment else { return "-" }
        // Parts of a second are for programs that read JSON.
        return columns == nil ? Moment(seconds: moment.seconds).iso8601(in: rules) : display(moment)
    }

    /// How far a time is: `in 5m`, `3h ago`.
    func distance(_ timestamp: Timestamp) -> String {
        timestamp.moment > now
            ? "in \(DisplayDuration.text(timestamp.moment - now))"
            : "\(DisplayDuration.text(now - timestamp.moment)) ago"
    }
}

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
