package import Tracking

/// The line that stays when a run ended: sign, name, and how it ended.
package enum FinishedLine {
    /// The line of an ended run.
    ///
    /// - Parameters:
    ///   - live: its last state.
    ///   - detail: says more than the reason does, such as `exit code 3`, and stands for it.
    ///   - traits: the terminal it is for.
    /// - Returns: a line that is not cut; it may take several rows.
    package static func line(_ live: LiveState, detail: String? = nil, traits: TerminalTraits) -> FrameLine {
        var line = FrameLine(traits)
        let mark = StateMark(live.state)
        if traits.usesColor { line.color(mark.color) }
        line.add(traits.hasGlyphs ? mark.glyph : mark.ascii)
        if traits.usesColor { line.color(.normal) }
        line.space(1)
        line.add(CleanText.line(live.task.run, limit: 80))
        line.space(2)
        line.add(RunWording.outcome(of: live, detail: detail))
        return line
    }
}
