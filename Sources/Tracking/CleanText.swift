/// Makes one harmless line of what a job or a bot wrote.
///
/// Terminal sequences could move a cursor or change colours, control characters ring a bell, direction overrides
/// make a text read as another, and a line of megabytes could drown a screen.
package enum CleanText {
    /// `raw` as one line: terminal sequences (see ``SpokenScalars``), control and invisible direction characters
    /// dropped, every run of white space one space, none at the ends, at most `limit` characters and 8 bytes for each of them.
    ///
    /// A longer text is cut on a character boundary and ends in `…`.
    package static func line(_ raw: String, limit: Int) -> String {
        if isPlain(raw), raw.utf8.count <= limit { return raw }
        return cut(collapse(raw, budget: limit * 16), limit: limit)
    }

    /// Printable ASCII with no white space to change: the common case, and the answer needs no work.
    private static func isPlain(_ text: String) -> Bool {
        var previous: UInt8 = 0x20
        for byte in text.utf8 {
            guard (0x20...0x7E).contains(byte), byte != 0x20 || previous != 0x20 else { return false }
            previous = byte
        }
        return previous != 0x20 || text.isEmpty
    }

    private static func collapse(_ raw: String, budget: Int) -> String {
        var scalars = String.UnicodeScalarView()
        var owesSpace = false
        var left = budget
        for scalar in SpokenScalars(raw) {
            if scalar.properties.isWhitespace {
                owesSpace = !scalars.isEmpty
            } else if isVisible(scalar) {
                if owesSpace { scalars.append(" ") }
                owesSpace = false
                scalars.append(scalar)
                left -= 1
                if left <= 0 { break }
            }
        }
        return String(scalars)
    }

    private static func cut(_ text: String, limit: Int) -> String {
        var kept = ""
        var count = 0
        for character in text {
            guard count < limit, kept.utf8.count + character.utf8.count <= limit * 8 else {
                while count >= limit {
                    kept.removeLast()
                    count -= 1
                }
                return kept + "…"
            }
            kept.append(character)
            count += 1
        }
        return kept
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        case .format: scalar == joiner || scalar == nonJoiner
        default: true
        }
    }

    /// Joins emoji and shapes Indic and Arabic letters; the only format characters that stay.
    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let nonJoiner: Unicode.Scalar = "\u{200C}"
}
