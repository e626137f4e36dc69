import Timeline
package import Tracking

/// The runs of a job as a drawing of two lines: how long each took, and how each ended, from the oldest to the newest.
package struct HistoryChart: Hashable, Sendable {
    /// A run, or slots that did not run.
    package struct Entry: Hashable, Sendable {
        /// How it ended, or where it is.
        package var state: RunState
        /// How long it took, or has been at it; absent where it never started.
        package var took: Duration?

        /// An entry of the drawing.
        package init(state: RunState, took: Duration?) {
            (self.state, self.took) = (state, took)
        }
    }

    private let entries: [Entry]
    private static let levels = Array("▁▂▃▄▅▆▇█")
    private static let asciiLevels = Array("_.-:=+*#")
    /// Less is no history.
    private static let least = 3
    private static let lead = 10

    /// A drawing of `entries`, the oldest first.
    package init(_ entries: [Entry]) { self.entries = entries }

    /// The two lines; none where too few runs started to be compared.
    ///
    /// - Parameters:
    ///   - columns: the cells of a line; the oldest entries are left out where there are more.
    ///   - traits: the terminal.
    /// - Returns: lines that do not reach the last column.
    package func lines(columns: Int, traits: TerminalTraits) -> [FrameLine] {
        let shown = entries.suffix(max(0, columns - Self.lead - 1))
        let times = shown.compactMap(\.took)
        guard times.count >= Self.least, let longest = times.max() else {
            return []
        }
        var (took, ended) = (FrameLine(traits), FrameLine(traits))
        Self.begin(&took, "took", traits)
        Self.begin(&ended, "ended", traits)
        for entry in shown {
            let mark = StateMark(entry.state)
            Self.draw(Self.level(entry.took, of: longest, traits), mark.color, &took, traits)
            Self.draw(traits.hasGlyphs ? mark.glyph : mark.ascii, mark.color, &ended, traits)
        }
        Self.finish(&took, Self.range(times.sorted()), columns)
        Self.finish(&ended, Self.counts(shown), columns)
        return [took, ended]
    }

    private static func begin(_ line: inout FrameLine, _ name: String, _ traits: TerminalTraits) {
        if traits.usesColor { line.color(.dim) }
        line.add(name, width: lead)
        if traits.usesColor { line.color(.normal) }
    }

    private static func draw(
        _ text: String, _ color: TerminalColor, _ line: inout FrameLine, _ traits: TerminalTraits
    ) {
        guard text != " " else { return line.space(1) }
        if traits.usesColor { line.color(color) }
        line.add(text)
        if traits.usesColor { line.color(.normal) }
    }

    /// `10 s to 1 min 20 s, half of them within 11 s`.
    private static func range(_ times: [Duration]) -> String {
        guard let shortest = times.first, let longest = times.last else { return "" }
        guard longest >= .seconds(1) else { return "each under 1 s" }
        let (low, high) = (shortest.words, longest.words)
        let half = times[(times.count - 1) / 2].words
        return low == high ? low : "\(low) to \(high), half of them within \(half)"
    }

    /// The words behind the drawing, where they fit as a whole.
    private static func finish(_ line: inout FrameLine, _ words: String, _ columns: Int) {
        guard line.cells + 2 + CellWidth.of(words) < columns else { return }
        line.space(2)
        line.add(words)
    }

    /// What took any time is seen, however short beside the longest.
    private static func level(_ took: Duration?, of longest: Duration, _ traits: TerminalTraits) -> String {
        guard let took else { return " " }
        let levels = traits.hasGlyphs ? Self.levels : asciiLevels
        // Parts of a second are no difference.
        let part = max(0, took / max(longest, .seconds(1)))
        return String(levels[min(levels.count - 1, Int(part * Double(levels.count)))])
    }

    /// `18 completed, 1 failed, 1 missed`, the most frequent first.
    private static func counts(_ entries: ArraySlice<Entry>) -> String {
        let counts = Dictionary(entries.map { ($0.state, 1) }, uniquingKeysWith: +)
        return counts.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.value) \($0.key.words)" }.joined(separator: ", ")
    }
}
