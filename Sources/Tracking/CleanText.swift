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

/// Drops of a text what only moves a terminal, turns the direction of a line or heaps up marks; one scalar at a time, so
/// that it does not matter how the text is cut while it comes.
///
/// Terminal sequences go whole, so that a coloured word leaves no `[31m` behind; control characters other
/// than tabs and ends of lines go (`\r` ends one, as does `\r\n`), and so do the marks that set the
/// direction of what follows them. A letter keeps its first eight combining marks, which is more than any
/// script stacks.
///
/// - Complexity: O(1) a scalar.
/// - Source: ECMA-48, 5.4 (control sequences) and 5.6 (control strings); Unicode UAX #9, 2.1 to 2.3.
package struct SpokenFilter: Hashable, Sendable {
    private enum Place {
        case text
        /// After a `\r`, which ended the line.
        case lineEnd
        /// After an escape character.
        case escape
        /// In an escape sequence of several characters, before its final one.
        case longEscape
        /// In a control sequence, before its final character.
        case sequence
        /// In a control string.
        case string
    }

    private static let marksOfOneLetter = 8

    private var place = Place.text
    private var marks = 0

    /// Before a text.
    package init() {}

    /// What a person would read of the next scalar: itself, the end of a line, or nothing.
    package mutating func receive(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        let value = scalar.value
        switch place {
        case .text: return receiveText(scalar)
        case .lineEnd:
            place = .text
            return scalar == "\n" ? nil : receiveText(scalar)
        case .escape:
            switch value {
            case 0x5B: place = .sequence
            case 0x5D, 0x50, 0x58, 0x5E, 0x5F: place = .string
            case 0x20...0x2F: place = .longEscape
            default: return end(with: scalar)
            }
        case .longEscape:
            if !(0x20...0x2F).contains(value) { return end(with: scalar) }
        case .sequence:
            if !(0x20...0x3F).contains(value) { return end(with: scalar) }
        case .string:
            switch value {
            case 0x07, 0x9C: place = .text
            // ST is an escape sequence, too, of two characters.
            case 0x1B: place = .escape
            // It ends with its line at the latest: what a bot forgot to end hides no other line.
            case 0x0A, 0x0D: return end(with: scalar)
            default: break
            }
        }
        return nil
    }

    /// The sequence has ended; what can't end one is not part of it.
    private mutating func end(with scalar: Unicode.Scalar) -> Unicode.Scalar? {
        place = .text
        return (0x30...0x7E).contains(scalar.value) ? nil : receiveText(scalar)
    }

    private mutating func receiveText(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x1B: place = .escape
        case 0x9B: place = .sequence
        case 0x90, 0x98, 0x9D, 0x9E, 0x9F: place = .string
        case 0x0D:
            (place, marks) = (.lineEnd, 0)
            return "\n"
        case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: break
        default:
            switch scalar.properties.generalCategory {
            case .control where scalar != "\n" && scalar != "\t": break
            case .nonspacingMark, .enclosingMark:
                marks += 1
                if marks <= Self.marksOfOneLetter { return scalar }
            default:
                marks = 0
                return scalar
            }
        }
        return nil
    }
}

/// The scalars of a text that a person would read: see ``SpokenFilter``.
///
/// What is dropped is passed over once.
package struct SpokenScalars: Sequence, IteratorProtocol {
    private var rest: String.UnicodeScalarView.Iterator
    private var filter = SpokenFilter()

    /// The scalars of `text` that a person would read.
    package init(_ text: String) {
        rest = text.unicodeScalars.makeIterator()
    }

    /// The next of them; `nil` at the end.
    package mutating func next() -> Unicode.Scalar? {
        while let scalar = rest.next() {
            if let spoken = filter.receive(scalar) { return spoken }
        }
        return nil
    }
}

extension String {
    /// What a person would read of it, on as many lines.
    ///
    /// See ``SpokenFilter``.
    package var spoken: String {
        var text = ""
        text.unicodeScalars.append(contentsOf: SpokenScalars(self))
        return text
    }
}
