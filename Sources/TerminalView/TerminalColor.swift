import Tracking

/// The few colours rows use, from the sixteen that every theme has made readable.
package enum TerminalColor: Hashable, Sendable {
    /// Back to normal.
    case normal
    /// Less bright, for what is old or does not matter.
    case dim
    /// At work.
    case cyan
    /// Went well.
    case green
    /// Wants a look.
    case yellow
    /// Went wrong.
    case red

    /// The sequence that selects it (SGR).
    package var sequence: String {
        switch self {
        case .normal: "\u{1B}[0m"
        case .dim: "\u{1B}[2m"
        case .cyan: "\u{1B}[36m"
        case .green: "\u{1B}[32m"
        case .yellow: "\u{1B}[33m"
        case .red: "\u{1B}[31m"
        }
    }
}
