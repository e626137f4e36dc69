import Tracking

/// A bot's reply while it comes, made safe to show: what a person would read of it.
///
/// Terminal sequences, control and invisible direction characters are dropped, as `SpokenFilter` does, and so is what
/// stands between `<internal>` and `</internal>`. However the bytes are cut, the text is the same.
package struct SpokenStream: Sendable {
    private static let opening = Array("<internal>".unicodeScalars)
    private static let closing = Array("</internal>".unicodeScalars)

    private var filter = SpokenFilter()
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
        for scalar in text.unicodeScalars {
            if let spoken = filter.receive(scalar), Self.isVisible(spoken) { note(spoken, &shown) }
        }
        return String(shown)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Tabs and ends of lines: no others are left.
        case .control: true
        case .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
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
