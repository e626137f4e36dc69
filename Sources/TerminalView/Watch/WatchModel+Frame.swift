package import Timeline
import Tracking

// What a view of all runs looks like: it fills a screen of its own.
extension WatchModel {
    /// The frame for a terminal, as high as that is; none of its lines is wider than the terminal less one cell.
    package mutating func frame(at now: Moment, size: TerminalSize) -> Frame {
        logHeight = max(1, size.rows - 2)
        let room = max(0, size.rows - 1)
        var frame = Frame([], size: size, traits: traits)
        var bottom: [FrameLine] = []
        if mode == .log || mode == .search, let log {
            if size.rows > 2 { frame.lines = [title(of: log, at: now, columns: size.columns)] }
            frame.lines += log.frame(traits, columns: size.columns, height: logHeight)
        } else if mode == .help {
            frame.lines = WatchHelp.lines.prefix(room).map { line($0, columns: size.columns) }
        } else {
            bottom = strip(at: now, size)
            frame.lines = list(at: now, columns: size.columns, room: room - bottom.count)
        }
        frame.lines += (0..<max(0, room - frame.lines.count - bottom.count)).map { _ in FrameLine(traits) }
        frame.lines += bottom
        frame.lines.append(footer(columns: size.columns))
        // In a very narrow terminal a row is left empty rather than wrapped.
        for index in frame.lines.indices where frame.lines[index].cells >= max(size.columns, 2) {
            frame.lines[index] = FrameLine(traits)
        }
        frame.lines = frame.lines.suffix(size.rows)
        return frame
    }

    /// Whose output a log is, and how that run is doing.
    private func title(of log: WatchLog, at now: Moment, columns: Int) -> FrameLine {
        var title = FrameLine(traits)
        let isShown = { (live: LiveState) in live.task.run == log.run }
        if let live = runs.first(where: isShown) {
            let row = LiveRow(live, at: now, zone: zone)
            title.add(RowWidths([row][...], cells: max(1, columns - 1)).line(row, traits: traits))
        } else if let end = ends.first(where: { isShown($0.live) }) {
            title.add(end.lines(in: zone, traits, columns: columns, evidence: 0)[0])
        } else {
            title.add(CleanText.line(log.run, limit: 80), limit: max(1, columns - 1))
        }
        return title
    }

    /// The days, where the terminal is high enough for them besides the runs.
    private func strip(at now: Moment, _ size: TerminalSize) -> [FrameLine] {
        guard let strip, size.rows >= 12, !strip.ends.isEmpty || !strip.slots.isEmpty else { return [] }
        return strip.lines(at: now, in: zone, traits, columns: size.columns)
    }

    private func list(at now: Moment, columns: Int, room: Int) -> [FrameLine] {
        var top = shownQuestions.prefix(Self.questionsShown).map { question in
            marked(.question(question.id), WatchWording.line(question, at: now, traits, columns: columns - 2))
        }
        let more = shownQuestions.count - top.count
        if more > 0 { top.append(line("+\(more) more questions", columns: columns)) }
        let ends = shownEnds.map { end in
            let lines = end.lines(in: zone, traits, columns: columns - 2, evidence: 2)
            return lines.enumerated().map { marked($0 == 0 ? .end(end.live.task.id) : nil, $1) }
        }
        let next = self.next(at: now, columns: columns)
        let below = max(0, room - top.count)
        let needed = ends.reduce(0) { $0 + $1.count }
        let rows = self.rows(at: now, columns: columns, room: max(1, below - min(needed, below / 2)))
        let rest = max(0, below - rows.count - next.count)
        return Array((top + rows + fitting(ends, room: rest) + next).prefix(max(0, room)))
    }

    /// The ends that there is room for: the newest, or those from the selected one on.
    private func fitting(_ ends: [[FrameLine]], room: Int) -> [FrameLine] {
        var last = ends.count
        if let index = shownEnds.firstIndex(where: { .end($0.live.task.id) == selection }) {
            // As much below it as there is room for.
            var height = ends[index].count
            var end = index + 1
            while end < last, height + ends[end].count <= room {
                height += ends[end].count
                end += 1
            }
            last = end
        }
        var lines: [FrameLine] = []
        for end in ends[..<last].reversed() {
            guard lines.count + end.count <= room else { break }
            lines = end + lines
        }
        return lines
    }

    private func rows(at now: Moment, columns: Int, room: Int) -> [FrameLine] {
        let runs = shownRuns
        var rows = runs.map { live in
            var row = LiveRow(live, at: now, zone: zone)
            row.detail = waits[live.task.id] ?? row.detail
            return row
        }
        guard !rows.isEmpty else { return [] }
        var ids: [Target?] = runs.map { .run($0.task.id) }
        let withParts = zip(rows, ids).flatMap { row, id in [(row, id)] + row.parts.map { ($0, nil) } }
        if withParts.count <= room { (rows, ids) = (withParts.map(\.0), withParts.map(\.1)) }
        let shown = rows.count <= room ? rows[...] : rows.prefix(max(1, room - 1))
        let layout = RowWidths(shown, cells: max(1, columns - 3))
        var lines = zip(shown, ids).map { marked($1, layout.line($0, traits: traits)) }
        if shown.count < rows.count {
            lines.append(line("+\(rows.count - shown.count) more", columns: columns))
        }
        return lines
    }

    /// That no run is active, and what comes next.
    private func next(at now: Moment, columns: Int) -> [FrameLine] {
        guard shownRuns.isEmpty else { return [] }
        let idle = filter.isEmpty ? "No run is active." : "No active run matches \"\(filter)\"."
        return [line(idle, columns: columns)]
            + shownJobs.map { job in
                let words =
                    job.nextAt.map { NextSlots.line(job.name, $0, in: zone, at: now) }
                    ?? "\(job.name) has no upcoming slot"
                let text = job.isPaused ? "\(job.name) is paused" : words
                return marked(.job(job.name), line(text, columns: columns - 2, indent: 0))
            }
    }

    private func marked(_ target: Target?, _ content: FrameLine) -> FrameLine {
        var line = FrameLine(traits)
        guard let target, target == selection else {
            line.space(2)
            line.add(content)
            return line
        }
        if traits.usesColor { line.color(.cyan) }
        line.add(traits.hasGlyphs ? "›" : ">")
        if traits.usesColor { line.color(.normal) }
        line.space(1)
        line.add(content)
        return line
    }

    private func line(_ text: String, columns: Int, indent: Int = 2) -> FrameLine {
        var line = FrameLine(traits)
        line.space(indent)
        line.add(CleanText.row(text), limit: max(1, columns - 1 - indent))
        return line
    }

    /// The last line: what is typed, what came of the last key, or which keys there are.
    private func footer(columns: Int) -> FrameLine {
        var line = FrameLine(traits)
        let cells = max(1, columns - 1)
        switch mode {
        case .filter: line.add("filter: \(editor.window(cells: max(2, cells - 9)).text)_", limit: cells)
        case .search: line.add("search: \(editor.window(cells: max(2, cells - 9)).text)_", limit: cells)
        case .answer(let question):
            let lead = "answer \(WatchWording.choices(question)): "
            let room = max(2, cells - 1 - CellWidth.of(lead))
            line.add("\(lead)\(editor.window(cells: room).text)_", limit: cells)
        case .confirm(let run): line.add("Cancel \(CleanText.line(run, limit: 80))? y/n", limit: cells)
        case .list, .help, .log:
            if let note {
                line.add(CleanText.row(note), limit: cells)
                break
            }
            if traits.usesColor { line.color(.dim) }
            line.add(
                WatchHelp.keys(mode == .log ? .log : mode == .help ? .help : .list, filter), limit: cells)
            if traits.usesColor { line.color(.normal) }
        }
        return line
    }
}
