/// What somebody said, without what only moves a terminal, turns the direction of a line or heaps up marks.
///
/// Terminal sequences go whole, so that a coloured word leaves no `[31m` behind; control characters other
/// than tabs and ends of lines go (`\r` ends one, as does `\r\n`), and so do the marks that set the
/// direction of what follows them. A letter keeps its first eight combining marks, which is more than any
/// script stacks.
///
/// - Complexity: O(1) a scalar; what is dropped is passed over once.
/// - Source: ECMA-48, 5.4 (control sequences) and 5.6 (control strings); Unicode UAX #9, 2.1 to 2.3.
package struct SpokenScalars: Sequence, IteratorProtocol {
    private static let marksOfOneLetter = 8

    private var rest: String.UnicodeScalarView.Iterator
    private var ahead: Unicode.Scalar?
    private var marks = 0

    /// The scalars of `text` that a person would read.
    package init(_ text: String) {
        rest = text.unicodeScalars.makeIterator()
    }

    /// The next of them; `nil` at the end.
    package mutating func next() -> Unicode.Scalar? {
        while let scalar = take() {
            switch scalar.value {
            case 0x1B: skipSequence()
            case 0x9B: skipControlSequence()
            case 0x90, 0x98, 0x9D, 0x9E, 0x9F: skipString()
            case 0x0D:
                if let after = take(), after != "\n" { ahead = after }
                marks = 0
                return "\n"
            case 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: continue
            default:
                switch scalar.properties.generalCategory {
                case .control where scalar != "\n" && scalar != "\t": continue
                case .nonspacingMark, .enclosingMark:
                    marks += 1
                    if marks <= Self.marksOfOneLetter { return scalar }
                default:
                    marks = 0
                    return scalar
                }
            }
        }
        return nil
    }

    private mutating func take() -> Unicode.Scalar? {
        guard let scalar = ahead else { return rest.next() }
        ahead = nil
        return scalar
    }

    private mutating func skipSequence() {
        switch take()?.value {
        case 0x5B: skipControlSequence()
        case 0x5D, 0x50, 0x58, 0x5E, 0x5F: skipString()
        case .some(0x20...0x2F): skip { (0x20...0x2F).contains($0) }
        // Other sequences are two characters long; what can't end one is not part of it.
        case .some(let value) where !(0x30...0x7E).contains(value): ahead = Unicode.Scalar(value)
        default: break
        }
    }

    /// Parameters and intermediates, then one final character.
    private mutating func skipControlSequence() {
        skip { (0x20...0x3F).contains($0) }
    }

    /// A string ends at BEL, at ST, or with its line: what a bot forgot to end hides no other line.
    private mutating func skipString() {
        while let scalar = take() {
            switch scalar.value {
            case 0x07, 0x9C: return
            case 0x0A: return ahead = scalar
            case 0x1B:
                if let end = take(), end != "\\" { ahead = end }
                return
            default: continue
            }
        }
    }

    /// Passes over what belongs, and over the one that ends it if it is a final character.
    private mutating func skip(while belongs: (UInt32) -> Bool) {
        while let scalar = take() {
            if belongs(scalar.value) { continue }
            if !(0x30...0x7E).contains(scalar.value) { ahead = scalar }
            return
        }
    }
}

extension String {
    /// What a person would read of it, on as many lines.
    ///
    /// See ``SpokenScalars``.
    package var spoken: String {
        var text = ""
        text.unicodeScalars.append(contentsOf: SpokenScalars(self))
        return text
    }
}
