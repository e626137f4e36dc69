package import Tracking

/// The sign and colour in front of a row.
package struct StateMark: Hashable, Sendable {
    /// One cell; a symbol that no terminal draws as an emoji.
    package let glyph: String
    /// One ASCII character.
    package let ascii: String
    /// The colour of the sign.
    package let color: TerminalColor

    /// The mark of a state.
    package init(_ state: RunState) {
        (glyph, ascii, color) =
            switch state {
            case .scheduled, .queued, .starting: ("○", ".", .dim)
            case .running: ("●", ">", .cyan)
            case .blocked: ("◆", "?", .yellow)
            case .paused: ("‖", "=", .yellow)
            case .stalled: ("◌", "!", .yellow)
            case .completed: ("✓", "+", .green)
            case .failed, .timedOut, .lost: ("✗", "x", .red)
            case .canceled, .skipped, .missed: ("–", "-", .dim)
            }
    }
}
