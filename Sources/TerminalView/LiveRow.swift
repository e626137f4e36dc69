package import Timeline
package import Tracking

/// One run as one row: its contents, before the layout.
package struct LiveRow: Hashable, Sendable {
    /// Where the run is in its life; decides glyph, colour and place.
    package var state: RunState
    /// `JOB#N`.
    package var name: String
    /// The part done, 0...1, where known.
    package var progress: Double?
    /// What it does, or what it waits for.
    package var detail: String
    /// How long it has been at it, and how long it still needs.
    package var time: String
    /// Whether what is shown is out of date.
    package var isStale: Bool
    /// The rows of the parts of its work, which stand below it.
    package var parts: [LiveRow] = []

    /// The row of a run.
    ///
    /// - Parameters:
    ///   - live: the run.
    ///   - now: the moment it is drawn.
    ///   - zone: where the reader is.
    package init(_ live: LiveState, at now: Moment, zone: ZoneRules) {
        state = live.state
        name = CleanText.line(live.task.run, limit: 80)
        progress = live.progress
        isStale = live.isStale(at: now) && !live.state.isEnded
        detail = RunWording.detail(of: live, at: now)
        time = FinishWording.time(of: live, at: now, zone: zone) ?? ""
        guard let tasks = live.tasks, !tasks.isEmpty else { return }
        let trees = TaskTree.of(tasks).flatMap { $0.flattened() }
        parts = trees.map { LiveRow(part: $0.tree, depth: $0.depth, isStale: isStale) }
    }

    private init(part: TaskTree, depth: Int, isStale: Bool) {
        state = part.task.map { RunState($0.state) } ?? .running
        name = String(repeating: "  ", count: depth + 1) + CleanText.line(part.name, limit: 40)
        progress = part.task?.progress
        detail = part.task?.message ?? ""
        time = ""
        self.isStale = isStale
    }

    /// The lower, the more a person should see it: what waits for them, then what goes wrong, then what
    /// works, then what waits for its turn.
    package var rank: Int { state.viewRank }
}

extension RunState {
    /// See ``LiveRow/rank``.
    var viewRank: Int {
        switch self {
        case .blocked: 0
        case .failed, .timedOut, .lost, .missed: 1
        case .stalled: 2
        case .running: 3
        case .starting: 4
        case .paused: 5
        case .queued: 6
        case .scheduled: 7
        case .completed, .canceled, .skipped: 8
        }
    }
}

extension RunState {
    /// The state of a run whose mark a part in this state has.
    fileprivate init(_ state: ChildTask.State) {
        self =
            switch state {
            case .working: .running
            case .blocked: .blocked
            case .done: .completed
            case .failed: .failed
            case .stopped: .canceled
            }
    }
}

/// Who gets how many cells of a row, the same for all rows of a frame.
///
/// When cells run short, the detail goes first, then the bar, then the time, then the end of the name.
struct RowWidths: Hashable {
    private static let gap = 2
    private static let percentCells = 4
    private static let leastDetail = 6

    private var name: Int
    private var bar = 0
    private var percent = 0
    private var detail = 0
    private var time = 0

    init(_ rows: ArraySlice<LiveRow>, cells: Int) {
        let names = rows.reduce(0) { max($0, CellWidth.of($1.name)) }
        name = min(names, max(8, cells / 3), max(0, cells - 2))
        var left = cells - 2 - name
        func take(_ wanted: Int) -> Int {
            guard wanted > 0, left >= wanted + Self.gap else { return 0 }
            left -= wanted + Self.gap
            return wanted
        }
        if rows.contains(where: { $0.progress != nil }) { percent = take(Self.percentCells) }
        let times = rows.reduce(0) { max($0, CellWidth.of($1.time)) }
        time = take(min(times, 40))
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
                let parts = Bar(progress, width: bar, glyphs: traits.hasGlyphs)
                paint(mark.color)
                line.add(parts.block, count: parts.whole)
                if let tip = parts.tip { line.add(tip, count: 1) }
                paint(.dim)
                line.add(parts.empty, count: parts.left)
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

/// A bar of whole cells, drawn to the eighth of a cell where the terminal can.
package struct Bar: Hashable, Sendable {
    private static let eighths: [Unicode.Scalar] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The cells that are done, each ``block``.
    package let whole: Int
    /// What is drawn in the cell after them, where that is begun.
    package let tip: Unicode.Scalar?
    /// The cells that are left, each ``empty``.
    package let left: Int
    /// A cell that is done.
    package let block: Unicode.Scalar
    /// A cell that is left.
    package let empty: Unicode.Scalar

    /// A bar of `width` cells at `progress` (0...1); what is done reaches the end only at 1.
    package init(_ progress: Double, width: Int, glyphs: Bool) {
        let part = min(max(progress, 0), 1)
        if glyphs {
            let eighth = part < 1 ? min(Int(part * Double(width * 8)), width * 8 - 1) : width * 8
            whole = eighth / 8
            tip = eighth % 8 > 0 ? Self.eighths[eighth % 8 - 1] : nil
            (block, empty) = ("█", "·")
        } else {
            whole = Int(part * Double(width))
            tip = whole < width && part > 0 ? ">" : nil
            (block, empty) = ("#", "-")
        }
        left = width - whole - (tip == nil ? 0 : 1)
    }

    /// The bar as a text.
    package var text: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: repeatElement(block, count: whole))
        if let tip { scalars.append(tip) }
        scalars.append(contentsOf: repeatElement(empty, count: left))
        return String(scalars)
    }
}

/// The line that stays when a run ended: sign, name, and how it ended.
package enum FinishedLine {
    /// The line of an ended run.
    ///
    /// - Parameters:
    ///   - live: its last state.
    ///   - detail: more detail than the reason, such as `exit code 3`; replaces it.
    ///   - clock: the time of day at which it ended, where it is shown.
    ///   - traits: the terminal it is for.
    ///   - columns: how wide that is; a long name is cut first, to leave room for how it ended.
    /// - Returns: one row.
    package static func line(
        _ live: LiveState, detail: String? = nil, clock: String? = nil, traits: TerminalTraits,
        columns: Int = .max
    ) -> FrameLine {
        var line = FrameLine(traits)
        let mark = StateMark(live.state)
        if traits.usesColor { line.color(mark.color) }
        line.add(traits.hasGlyphs ? mark.glyph : mark.ascii)
        if traits.usesColor { line.color(.normal) }
        line.space(1)
        let name = CleanText.line(live.task.run, limit: 80)
        let outcome = RunWording.outcome(of: live, detail: detail)
        // Two cells before the name, two behind it.
        var room = max(1, columns - 4)
        // The time of day goes first where there is little room.
        if let clock, room > 40 {
            if traits.usesColor { line.color(.dim) }
            room -= line.add(clock) + 2
            if traits.usesColor { line.color(.normal) }
            line.space(2)
        }
        let left = line.add(name, limit: max(room / 2, room - CellWidth.of(outcome)))
        line.space(2)
        line.add(outcome, limit: max(1, room - left))
        return line
    }

    /// A line that the run printed, below the line of its end: dim, and cut at the width of the terminal.
    package static func evidence(_ text: String, traits: TerminalTraits, columns: Int = .max) -> FrameLine {
        var line = FrameLine(traits)
        line.space(2)
        if traits.usesColor { line.color(.dim) }
        line.add(CleanText.line(text, limit: 300), limit: max(1, columns - 3))
        if traits.usesColor { line.color(.normal) }
        return line
    }
}
