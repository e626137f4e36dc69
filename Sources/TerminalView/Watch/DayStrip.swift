package import Timeline
package import Tracking

/// Yesterday, today and tomorrow as a strip of hours: how runs ended, where now is, and what comes.
///
/// A day has as many hours as it has: 23 or 25 where the clock is moved, and it says so.
package struct DayStrip: Hashable, Sendable {
    /// A run that has ended.
    package struct End: Hashable, Sendable {
        /// When it ended.
        package var at: Moment
        /// How it ended.
        package var state: RunState

        /// The end of a run.
        package init(at: Moment, state: RunState) {
            (self.at, self.state) = (at, state)
        }
    }

    /// The runs that have ended since yesterday, in any order.
    package var ends: [End]
    /// The slots up to the end of tomorrow, in any order.
    package var slots: [Moment]

    /// A strip of these runs and slots.
    package init(ends: [End] = [], slots: [Moment] = []) {
        (self.ends, self.slots) = (ends, slots)
    }

    /// The moments that the strip shows at `now`: from the beginning of yesterday to the end of tomorrow.
    package static func span(at now: Moment, in zone: ZoneRules) -> Range<Moment> {
        let days = days(at: now, in: zone)
        return days[0].start..<days[2].end
    }

    /// Two lines: the days, and their hours.
    ///
    /// - Parameters:
    ///   - now: the moment.
    ///   - zone: where the reader is.
    ///   - traits: the terminal.
    ///   - columns: how wide it is; a cell is two hours where it is narrow.
    /// - Returns: lines that do not reach the last column; none where even that is too wide.
    package func lines(
        at now: Moment, in zone: ZoneRules, _ traits: TerminalTraits, columns: Int
    ) -> [FrameLine] {
        let days = Self.days(at: now, in: zone)
        let fitting = [1, 2].first { hours in
            days.reduce(4) { $0 + $1.cells(of: hours) } < columns
        }
        guard let hours = fitting else { return [] }
        var (names, cells) = (FrameLine(traits), FrameLine(traits))
        for (index, day) in days.enumerated() {
            Self.begin(index, &names, traits)
            Self.begin(index, &cells, traits)
            let width = day.cells(of: hours)
            if traits.usesColor { names.color(day.shift == nil ? .dim : .yellow) }
            names.add(day.name(in: zone), width: width)
            if traits.usesColor { names.color(.normal) }
            draw(day, hours, at: now, &cells, traits)
        }
        return [names, cells]
    }

    private static func begin(_ index: Int, _ line: inout FrameLine, _ traits: TerminalTraits) {
        guard index > 0 else { return line.space(2) }
        if traits.usesColor { line.color(.dim) }
        line.add(traits.hasGlyphs ? "│" : "|")
        if traits.usesColor { line.color(.normal) }
    }

    private func draw(
        _ day: Day, _ hours: Int, at now: Moment, _ line: inout FrameLine, _ traits: TerminalTraits
    ) {
        for cell in 0..<day.cells(of: hours) {
            let start = day.start + .seconds(cell * hours * 3600)
            let span = start..<min(start + .seconds(hours * 3600), day.end)
            let (text, color) = mark(span, at: now, day, cell * hours, traits)
            guard text != " " else {
                line.space(1)
                continue
            }
            if traits.usesColor { line.color(color) }
            line.add(text)
            if traits.usesColor { line.color(.normal) }
        }
    }

    /// What stands in a cell: now, the worst end, a slot, a change of the clock, each sixth hour.
    private func mark(
        _ span: Range<Moment>, at now: Moment, _ day: Day, _ hour: Int, _ traits: TerminalTraits
    ) -> (String, TerminalColor) {
        if span.contains(now) { return (traits.hasGlyphs ? "┃" : "|", .cyan) }
        let worst = ends.filter { span.contains($0.at) }.min { $0.state.viewRank < $1.state.viewRank }
        if let worst {
            let mark = StateMark(worst.state)
            return (traits.hasGlyphs ? mark.glyph : mark.ascii, mark.color)
        }
        if span.lowerBound > now, slots.contains(where: { span.contains($0) }) {
            return (traits.hasGlyphs ? "○" : "o", .normal)
        }
        if let shift = day.shift, span.contains(shift.at) { return (traits.hasGlyphs ? "↕" : "^", .yellow) }
        return hour % 6 == 0 ? (traits.hasGlyphs ? "·" : "'", .dim) : (" ", .normal)
    }

    // MARK: Days

    private struct Day {
        var date: CivilDate
        var start: Moment
        var end: Moment
        /// Where the clock is moved on it, and by how much.
        var shift: (at: Moment, by: Int)?

        func cells(of hours: Int) -> Int {
            let size = Int((end - start) / .seconds(1))
            return (size + hours * 3600 - 1) / (hours * 3600)
        }

        /// `Sun 29`, `Sun 29, -1 h at 02:00`.
        func name(in zone: ZoneRules) -> String {
            let day = DisplayTime.day(date)
            guard let shift else { return day }
            // What the clock showed when it was moved.
            let before = CivilTime(shift.at - .seconds(1), in: zone)
            let size = DisplayDuration.text(.seconds(abs(shift.by)))
            // A clock that goes forward takes from the day.
            let hour = (before.hour + 1) % 24
            let clock = before.minute == 59 ? "\(hour < 10 ? "0" : "")\(hour):00" : ""
            return "\(day), \(shift.by > 0 ? "-" : "+")\(size)" + (clock.isEmpty ? "" : " at \(clock)")
        }
    }

    private static func days(at now: Moment, in zone: ZoneRules) -> [Day] {
        let today = CivilTime(now, in: zone).date.daysSinceEpoch
        let starts = (-1...2).map { offset in
            switch zone.instants(of: CivilTime(CivilDate(daysSinceEpoch: today + offset))) {
            case .unique(let moment), .overlap(let moment, _): moment
            case .gap(let transition, _): transition
            }
        }
        return (0..<3).map { index in
            var day = Day(
                date: CivilDate(daysSinceEpoch: today + index - 1), start: starts[index],
                end: starts[index + 1])
            if let at = zone.nextTransition(after: day.start - .microseconds(1)), at < day.end {
                let by = zone.offsetSeconds(at: at) - zone.offsetSeconds(at: at - .microseconds(1))
                if by != 0 { day.shift = (at, by) }
            }
            return day
        }
    }
}
