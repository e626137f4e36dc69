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
        let trees = TaskTree.of(live.tasks ?? []).flatMap { $0.flattened() }
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

/// A bar of whole cells, drawn to the eighth of a cell where the terminal can.
package enum Bar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The two parts of a bar.
    package struct Parts: Hashable, Sendable {
        /// What is done, to the eighth of a cell.
        package var full: String
        /// The cells of ``full``.
        package var fullCells: Int
        /// What is left.
        package var rest: String
    }

    /// A bar of `width` cells at `progress` (0...1); what is done reaches the end only at 1.
    package static func parts(_ progress: Double, width: Int, glyphs: Bool) -> Parts {
        let part = min(max(progress, 0), 1)
        guard glyphs else {
            let full = Int(part * Double(width))
            let head = full < width && part > 0 ? ">" : ""
            return parts(String(repeating: "#", count: full) + head, full + head.count, width, "-")
        }
        let eighth = part < 1 ? min(Int(part * Double(width * 8)), width * 8 - 1) : width * 8
        let tip = eighths[eighth % 8]
        let cells = eighth / 8 + (tip.isEmpty ? 0 : 1)
        return parts(String(repeating: "█", count: eighth / 8) + tip, cells, width, "·")
    }

    private static func parts(_ full: String, _ cells: Int, _ width: Int, _ empty: String) -> Parts {
        Parts(full: full, fullCells: cells, rest: String(repeating: empty, count: width - cells))
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
