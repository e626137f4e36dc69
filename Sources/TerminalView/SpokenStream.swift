/// A bot's reply while it comes, made safe to show: what a person would read of it.
///
/// Terminal sequences, control and invisible direction characters are dropped, and so is what stands between `<internal>`
/// and `</internal>`. However the bytes are cut, the text is the same.
package struct SpokenStream: Sendable {
    private enum Place {
        case text
        /// After an escape character.
        case escape
        /// In a control sequence.
        case sequence
        /// In a control string; whether its last character was an escape.
        case string(isEnding: Bool)
    }

    private static let opening = Array("<internal>".unicodeScalars)
    private static let closing = Array("</internal>".unicodeScalars)

    private var place = Place.text
    private var isInternal = false
    /// How much of the next mark was seen.
    private var matched = 0
    /// The beginning of a character.
    private var rest: [UInt8] = []

    /// Nothing so far.
    package init() {}

    /// What to show of the next bytes; a character that they end in is shown once it is whole.
    package mutating func receive(_ bytes: [UInt8]) -> String {
        rest += bytes
        let end = rest.count - Self.cut(rest)
        let text = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeFirst(end)
        return show(text)
    }

    /// What is left to show when nothing more comes.
    package mutating func finish() -> String {
        let text = show(String(decoding: rest, as: UTF8.self))
        rest = []
        defer { matched = 0 }
        return isInternal ? text : text + held
    }

    private var held: String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: Self.opening[..<matched])
        return String(text)
    }

    /// How many bytes at the end are the beginning of a character.
    private static func cut(_ bytes: [UInt8]) -> Int {
        for (length, byte) in bytes.suffix(3).reversed().enumerated() {
            if byte & 0xC0 == 0x80 { continue }
            let whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length + 1 < whole ? length + 1 : 0
        }
        return 0
    }

    private mutating func show(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where isText(scalar) { note(scalar, &shown) }
        return String(shown)
    }

    /// Whether the character stands outside of terminal sequences and can be shown.
    private mutating func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch place {
        case .text:
            switch scalar.value {
            case 0x1B: place = .escape
            case 0x9B: place = .sequence
            case 0x90, 0x98, 0x9D, 0x9E, 0x9F: place = .string(isEnding: false)
            case 0x0A, 0x09: return true
            default: return Self.isVisible(scalar)
            }
        case .escape:
            switch scalar {
            case "[": place = .sequence
            case "]", "P", "X", "^", "_": place = .string(isEnding: false)
            case " "..."/": break
            default: place = .text
            }
        case .sequence: if !(0x20...0x3F).contains(scalar.value) { place = .text }
        case .string(let isEnding):
            let ends = scalar.value == 0x07 || scalar.value == 0x9C || isEnding && scalar == "\\"
            // A string that is never closed ends with its line: it must not hide the rest of the reply.
            place = ends || scalar == "\n" ? .text : .string(isEnding: scalar.value == 0x1B)
        }
        return false
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        case .format: scalar == "\u{200D}" || scalar == "\u{200C}"
        default: true
        }
    }

    private mutating func note(_ scalar: Unicode.Scalar, _ shown: inout String.UnicodeScalarView) {
        let mark = isInternal ? Self.closing : Self.opening
        if scalar == mark[matched] {
            matched += 1
            if matched == mark.count {
                isInternal.toggle()
                matched = 0
            }
            return
        }
        let wasMatched = matched
        matched = 0
        if !isInternal { shown.append(contentsOf: Self.opening[..<wasMatched]) }
        // Both marks begin with a character that they hold once.
        if scalar == mark[0] {
            matched = 1
        } else if !isInternal {
            shown.append(scalar)
        }
    }
}
