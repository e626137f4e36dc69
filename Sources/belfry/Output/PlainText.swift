import Tracking

/// Text that others wrote, made safe to show.
enum PlainText {
    /// `text` on one line without terminal sequences and control characters, so that it can't move the cursor or
    /// change colours.
    static func oneLine(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in SpokenScalars(text) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: clean.append(" ")
            case .surrogate, .privateUse, .unassigned: clean.append("\u{FFFD}")
            case .format where scalar != "\u{200D}": break
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }

    /// The first `limit` characters of `text` on one line, with an ellipsis where some are missing.
    static func preview(_ text: String, limit: Int = 100) -> String {
        let line = oneLine(text)
        return line.count <= limit ? line : line.prefix(limit - 1) + "…"
    }
}
