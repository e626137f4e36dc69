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
        if raw.utf8.count <= limit, isPlain(raw) { return raw }
        return cut(collapse(raw, budget: limit * 16), limit: limit)
    }

    /// `raw` as one line whose spaces stay as they are: terminal sequences and invisible direction characters dropped,
    /// every other control character and end of a line a space, what has no meaning everywhere replaced by `U+FFFD`.
    package static func row(_ raw: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in SpokenScalars(raw) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: scalars.append(" ")
            case .surrogate, .privateUse, .unassigned: scalars.append("\u{FFFD}")
            case .format where scalar != joiner: break
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Printable ASCII with no white space to change: the common case, and the answer needs no work.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8.span
        var wasSpace = true
        var isOther = false
        for index in bytes.indices {
            let byte = bytes[index]
            let isSpace = byte == 0x20
            isOther = isOther || byte &- 0x20 > 0x5E || isSpace && wasSpace
            wasSpace = isSpace
        }
        return !isOther && (!wasSpace || bytes.isEmpty)
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

/// Takes terminal sequences out of a record, so that what is left is what a person would read.
///
/// - Source: ECMA-48, 5.4 (control sequences) and 5.6 (control strings).
enum EscapeStripper {
    /// The record without control sequences, control strings and other control characters.
    ///
    /// A tab becomes a space. A sequence that the record cuts off is dropped to the record's end.
    static func strip(_ record: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(record.count)
        var rest = record
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B: skipSequence(&rest)
            case 0x09: text.append(0x20)
            case 0x00..<0x20, 0x7F: continue
            default: text.append(byte)
            }
        }
        return text
    }

    /// Skips what follows an escape character and belongs to its sequence.
    static func skipSequence(_ rest: inout ArraySlice<UInt8>) {
        switch rest.popFirst() {
        case UInt8(ascii: "["):
            // Parameters and intermediates, then one final byte.
            while let byte = rest.popFirst(), (0x20...0x3F).contains(byte) {}
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            // A string: ends at BEL or at ESC \.
            while let byte = rest.popFirst(), byte != 0x07 {
                if byte == 0x1B {
                    if rest.first == UInt8(ascii: "\\") { rest.removeFirst() }
                    return
                }
            }
        case .some(0x20...0x2F):
            while let byte = rest.popFirst(), (0x20...0x2F).contains(byte) {}
        default: break
        }
    }
}
