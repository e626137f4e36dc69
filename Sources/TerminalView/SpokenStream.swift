package import Tracking

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

/// Text that comes in pieces, in rows of a terminal: each as soon as it is complete.
package struct FlowingText: Hashable, Sendable {
    /// The row that is not complete.
    package private(set) var tail = ""

    /// Nothing so far.
    package init() {}

    /// The rows that `text` completes, none wider than `columns` cells.
    package mutating func receive(_ text: String, columns: Int) -> [String] {
        var rows: [String] = []
        var isFirst = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !isFirst {
                rows.append(tail)
                tail = ""
            }
            isFirst = false
            tail += line
            while let row = overflow(max(2, columns)) { rows.append(row) }
        }
        return rows
    }

    /// The last row; none where nothing is left.
    package mutating func finish() -> [String] {
        defer { tail = "" }
        return tail.isEmpty ? [] : [tail]
    }

    /// Takes the first row off a tail that is too wide: to its last space, or else as much as fits.
    private mutating func overflow(_ columns: Int) -> String? {
        var (cells, end, space) = (0, tail.startIndex, String.Index?.none)
        while end < tail.endIndex {
            let width = CellWidth.of(tail[end])
            if cells + width > columns, tail[end] != " " { break }
            if tail[end] == " ", cells > 0 { space = end }
            cells += width
            end = tail.index(after: end)
        }
        guard end < tail.endIndex else { return nil }
        guard let space else {
            let row = String(tail[..<end])
            tail = String(tail[end...])
            return row
        }
        let row = String(tail[..<space])
        tail = String(tail[space...].drop { $0 == " " })
        return row
    }
}

/// Markdown on a terminal: bold, italic and coloured where it shows colours, else as plain text.
package struct TerminalPlace: MarkdownPlace {
    private let usesColor: Bool
    private let hasGlyphs: Bool

    /// A terminal of these traits.
    package init(_ traits: TerminalTraits) {
        (usesColor, hasGlyphs) = (traits.usesColor, traits.hasGlyphs)
    }

    package func show(_ span: Markdown.Span) -> String {
        let text = PlainPlace().show(span)
        guard usesColor else { return text }
        var codes: [String] = []
        if span.style.contains(.bold) { codes.append("1") }
        if span.style.contains(.italic) { codes.append("3") }
        if span.style.contains(.code) { codes.append("36") }
        if span.link != nil { codes.append("4") }
        return codes.isEmpty ? text : "\u{1B}[\(codes.joined(separator: ";"))m\(text)\u{1B}[0m"
    }

    package func show(code: String) -> String { usesColor ? "\u{1B}[36m\(code)\u{1B}[0m" : code }

    package func show(mark: String) -> String {
        guard !hasGlyphs else { return mark }
        return ["•": "*", "│": "|", "───": "---"][mark] ?? mark
    }
}
