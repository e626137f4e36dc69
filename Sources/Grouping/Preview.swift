import Tracking

/// One clean line of what somebody said.
public enum Preview {
    /// `text` on one line, at most `limit` characters long, cut between two of them.
    ///
    /// Runs of white space become one space; terminal sequences, control characters and the marks that turn
    /// the direction of the text after them go. A cut line ends in `…`, which counts. A character may be
    /// long (a family is seven scalars), yet the line never exceeds 16 bytes times `limit`, or 64, so
    /// that a heap of accents can't swell it.
    ///
    /// - Complexity: O(`limit`), white space and control characters that are dropped not counted.
    public static func cut(_ text: String, to limit: Int = 100) -> String {
        guard limit > 0 else { return "" }
        let (line, isWhole) = fold(text, bytes: max(64, limit * 16))
        let end = line.index(line.startIndex, offsetBy: limit, limitedBy: line.endIndex)
        if isWhole, (end ?? line.endIndex) == line.endIndex { return line }
        // The last character of a line that was broken off may be half of one: it goes as well.
        let kept = (isWhole ? line[...] : line.dropLast()).prefix(limit - 1)
        return kept + "…"
    }

    /// The folded line, and whether it holds all of the text; stops soon after `bytes`.
    private static func fold(_ text: String, bytes: Int) -> (line: String, isWhole: Bool) {
        var line = ""
        var hasGap = false
        for scalar in SpokenScalars(text) {
            if scalar.properties.isWhitespace {
                hasGap = !line.isEmpty
            } else {
                let length = UTF8.width(scalar) + (hasGap ? 1 : 0)
                if line.utf8.count + length > bytes { return (line, false) }
                if hasGap { line.unicodeScalars.append(" ") }
                hasGap = false
                line.unicodeScalars.append(scalar)
            }
        }
        return (line, true)
    }
}
