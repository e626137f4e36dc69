import Tracking

/// Who gets how many cells of a row, the same for all rows of a frame.
///
/// When cells run short, the detail goes first, then the bar, then the time, then the end of the name.
struct Columns: Hashable {
    private static let gap = 2
    private static let percentCells = 4
    private static let leastDetail = 6

    private var name: Int
    private var bar = 0
    private var percent = 0
    private var detail = 0
    private var time = 0

    init(_ rows: ArraySlice<LiveRow>, cells: Int) {
        let names = rows.map { CellWidth.of($0.name) }.max() ?? 0
        name = min(names, max(8, cells / 3), max(0, cells - 2))
        var left = cells - 2 - name
        func take(_ wanted: Int) -> Int {
            guard wanted > 0, left >= wanted + Self.gap else { return 0 }
            left -= wanted + Self.gap
            return wanted
        }
        if rows.contains(where: { $0.progress != nil }) { percent = take(Self.percentCells) }
        let times = rows.map { CellWidth.of($0.time) }.max() ?? 0
        time = take(min(times, 32))
        if percent > 0, cells >= 40 { bar = take(min(24, max(8, cells / 6))) }
        if left >= Self.leastDetail + Self.gap { detail = take(left - Self.gap) }
    }

    func line(_ row: LiveRow, traits: TerminalTraits) -> FrameLine {
        var line = FrameLine(traits)
        func paint(_ color: TerminalColor) {
            if traits.usesColor, !row.isStale { line.color(color) }
        }
        if traits.usesColor, row.isStale { line.color(.dim) }
        let mark = StateMark(row.state)
        paint(mark.color)
        line.add(traits.hasGlyphs ? mark.glyph : mark.ascii)
        paint(.normal)
        line.space(1)
        line.add(row.name, width: name)
        if bar > 0 {
            line.space(Self.gap)
            if let progress = row.progress {
                let parts = Bar.parts(progress, width: bar, glyphs: traits.hasGlyphs)
                paint(mark.color)
                line.add(parts.full, knownCells: parts.fullCells)
                paint(.dim)
                line.add(parts.rest, knownCells: bar - parts.fullCells)
                paint(.normal)
            } else {
                line.space(bar)
            }
        }
        if percent > 0 {
            let text = row.progress.map(RunWording.percent) ?? ""
            line.space(Self.gap + percent - text.utf8.count)
            line.add(text)
        }
        if detail > 0 {
            line.space(Self.gap)
            line.add(row.detail, width: detail)
        }
        if time > 0 {
            let text = CellWidth.of(row.time) > time ? "" : row.time
            line.space(Self.gap + time - CellWidth.of(text))
            line.add(text)
        }
        if traits.usesColor, row.isStale { line.color(.normal) }
        return line
    }
}
