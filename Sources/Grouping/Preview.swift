import Tracking

/// What is shown of a text: one clean line, or a few.
public enum Preview {
    /// `text` on one line, at most `limit` characters long, cut at the end of a word where one is near, else between two
    /// characters.
    ///
    /// Runs of white space become one space; terminal sequences, control characters and the marks that turn
    /// the direction of the text after them go. A cut line ends in `…`, which counts. A character may be
    /// long (a family is seven scalars), yet the line never exceeds 16 bytes times `limit`, or 64, so
    /// that a heap of accents can't swell it.
    ///
    /// - Complexity: O(`limit`), white space and control characters that are dropped not counted.
    public static func cut(_ text: String, to limit: Int = 100) -> String {
        guard limit > 0 else { return "" }
        if text.utf8.count <= limit, isLine(text) { return text }
        let (line, isWhole) = fold(text, bytes: max(64, limit * 16))
        let end = line.index(line.startIndex, offsetBy: limit, limitedBy: line.endIndex)
        if isWhole, (end ?? line.endIndex) == line.endIndex { return line }
        // The last character of a line that was broken off may be half of one: it goes as well.
        return words(of: isWhole ? line : String(line.dropLast()), to: limit - 1) + "…"
    }

    /// Whether nothing of the text can be shown.
    public static func isEmpty(_ text: String) -> Bool {
        isLine(text) ? text.isEmpty : cut(text, to: 1).isEmpty
    }

    /// Whether the text is one line of visible ASCII already, its words one space apart.
    private static func isLine(_ text: String) -> Bool {
        var previous: UInt8 = 0x20
        for byte in text.utf8 {
            guard (0x21...0x7E).contains(byte) || (byte == 0x20 && previous != 0x20) else { return false }
            previous = byte
        }
        return previous != 0x20 || text.isEmpty
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

extension Preview {
    /// `text` with its line breaks, at most `limit` characters long, cut at a word.
    ///
    /// What ``cut(_:to:)`` drops is dropped here, but up to 20 spaces in a row stay, so that columns and indentation do;
    /// a tab is one space. Empty lines in a row become one, and none stand at the ends. A cut text ends in `…`, which
    /// counts. One line is kept for each 20 characters of `limit`, at least four. The limit of bytes is that of
    /// ``cut(_:to:)``.
    ///
    /// - Complexity: O(`limit`), white space and control characters that are dropped not counted.
    public static func shape(_ text: String, to limit: Int) -> String {
        guard limit > 0 else { return "" }
        if text.utf8.count <= limit, isLine(text) { return text }
        let (shaped, isWhole) = layOut(text, bytes: max(64, limit * 16), lines: max(4, limit / 20))
        let end = shaped.index(shaped.startIndex, offsetBy: limit, limitedBy: shaped.endIndex)
        if isWhole, (end ?? shaped.endIndex) == shaped.endIndex { return shaped }
        return words(of: shaped, to: limit - 1) + "…"
    }

    private static let longestGap = 20

    /// The first `limit` characters without a broken word at the end, unless the word is half of them.
    private static func words(of text: String, to limit: Int) -> Substring {
        let part = text.prefix(limit)
        var kept = part
        if part.endIndex < text.endIndex, !text[part.endIndex].isWhitespace,
            let gap = part.lastIndex(where: \.isWhitespace),
            part.distance(from: part.startIndex, to: gap) >= limit / 2
        {
            kept = part[..<gap]
        }
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return kept
    }

    /// The clean lines, and whether they hold all of the text; stops soon after `bytes` or `lines`.
    private static func layOut(_ text: String, bytes: Int, lines: Int) -> (text: String, isWhole: Bool) {
        var (shaped, spaces, breaks, count) = ("", 0, 0, 1)
        for scalar in SpokenScalars(text) {
            if scalar == "\n" || scalar == "\u{2028}" || scalar == "\u{2029}" {
                (breaks, spaces) = (breaks + 1, 0)
            } else if scalar.properties.isWhitespace {
                spaces += 1
            } else {
                breaks = shaped.isEmpty ? 0 : min(breaks, 2)
                spaces = min(spaces, longestGap)
                count += breaks
                if count > lines { return (shaped, false) }
                if shaped.utf8.count + breaks + spaces + UTF8.width(scalar) > bytes {
                    // Its last character may be half of one.
                    return (String(shaped.dropLast()), false)
                }
                shaped += String(repeating: "\n", count: breaks) + String(repeating: " ", count: spaces)
                shaped.unicodeScalars.append(scalar)
                (breaks, spaces) = (0, 0)
            }
        }
        return (shaped, true)
    }
}
