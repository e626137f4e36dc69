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

    /// The sequence is over; what can't end one is not part of it.
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
