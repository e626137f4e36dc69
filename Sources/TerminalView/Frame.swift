/// What the terminal should show below its scrollback: one line a run, as a value.
package struct Frame: Hashable, Sendable {
    /// The lines, from above; none is wider than the terminal less one cell.
    package var lines: [FrameLine]

    /// Lays `rows` out for a terminal, the most urgent first.
    ///
    /// The last column stays free, since a terminal that is made narrower wraps what reaches it. Rows that
    /// do not fit above the cursor's line are counted: `+7 more`.
    package init(_ rows: [LiveRow], size: TerminalSize, traits: TerminalTraits) {
        let room = max(1, size.rows - 1)
        let sorted = Self.byUrgency(rows)
        let fits = sorted.count <= room
        let shown = fits ? sorted[...] : sorted.prefix(room - 1)
        let columns = Columns(shown, cells: max(1, size.columns - 1))
        lines = shown.map { columns.line($0, traits: traits) }
        if !fits {
            var line = FrameLine(traits)
            line.add("+\(sorted.count - shown.count) more", limit: max(1, size.columns - 1))
            lines.append(line)
        }
    }

    /// Rows of one rank keep the order they were given in.
    private static func byUrgency(_ rows: [LiveRow]) -> [LiveRow] {
        rows.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
    }
}
