package import Tracking

/// The line that stays when a run ended: sign, name, and how it ended.
package enum FinishedLine {
    /// The line of an ended run.
    ///
    /// - Parameters:
    ///   - live: its last state.
    ///   - detail: says more than the reason does, such as `exit code 3`, and stands for it.
    ///   - traits: the terminal it is for.
    ///   - columns: how wide that is; a long name is cut first, to leave room for how it ended.
    /// - Returns: one row.
    package static func line(
        _ live: LiveState, detail: String? = nil, traits: TerminalTraits, columns: Int = .max
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
        let room = max(1, columns - 4)
        let left = line.add(name, limit: max(room / 2, room - CellWidth.of(outcome)))
        line.space(2)
        line.add(outcome, limit: max(1, room - left))
        return line
    }
}
