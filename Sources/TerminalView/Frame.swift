/// What the terminal should show below its scrollback: one line a run, as a value.
package struct Frame: Hashable, Sendable {
    /// The lines, from above; none is wider than the terminal less one cell.
    package var lines: [FrameLine]

    /// Lays `rows` out for a terminal, the most urgent first.
    ///
    /// The last column stays free, since a terminal that is made narrower wraps what reaches it. Rows that
    /// do not fit above the cursor's line are counted: `+7 more`. Parts of runs are shown where all of them fit.
    package init(_ rows: [LiveRow], size: TerminalSize, traits: TerminalTraits) {
        let room = max(1, size.rows - 1)
        var sorted = Self.byUrgency(rows)
        if rows.contains(where: { !$0.parts.isEmpty }) {
            let withParts = sorted.flatMap { [$0] + $0.parts }
            if withParts.count <= room { sorted = withParts }
        }
        let fits = sorted.count <= room
        let shown = fits ? sorted[...] : sorted.prefix(room - 1)
        let columns = RowWidths(shown, cells: max(1, size.columns - 1))
        lines = shown.map { columns.line($0, traits: traits) }
        if !fits {
            var line = FrameLine(traits)
            line.add("+\(sorted.count - shown.count) more", limit: max(1, size.columns - 1))
            lines.append(line)
        }
    }

    /// Rows of one rank keep the order they were given in.
    static func byUrgency(_ rows: [LiveRow]) -> [LiveRow] {
        // Mostly all of them run, and no row has to be copied.
        guard zip(rows.indices, rows.indices.dropFirst()).contains(where: { rows[$0].rank > rows[$1].rank })
        else { return rows }
        return rows.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
    }
}

/// One finished line: the bytes that draw it, and the cells it takes.
package struct FrameLine: Hashable, Sendable {
    /// UTF-8 with colour sequences; no line end, no movement, no trailing space.
    package private(set) var bytes: [UInt8] = []
    /// The cells up to the last thing drawn.
    package private(set) var cells = 0

    /// Spaces that count but are only drawn once something follows.
    private var owed = 0
    private let isUTF8: Bool
    private let hasGlyphs: Bool
    private var ellipsis: String { hasGlyphs ? "…" : "..." }

    /// An empty line for a terminal.
    package init(_ traits: TerminalTraits) {
        isUTF8 = traits.isUTF8
        hasGlyphs = traits.hasGlyphs
        bytes.reserveCapacity(256)
    }

    /// Whether both draw the same.
    package static func == (left: FrameLine, right: FrameLine) -> Bool {
        left.cells == right.cells && left.owed == right.owed && left.bytes == right.bytes
    }

    /// As ``==(_:_:)`` compares.
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// Adds `text`, cut with an ellipsis to `limit` cells, and returns how many it used.
    @discardableResult
    package mutating func add(_ text: String, limit: Int = .max) -> Int {
        guard limit > 0, !text.isEmpty else { return 0 }
        let (width, isPlain) = CellWidth.measure(text)
        guard width > limit else {
            return isPlain ? draw(plain: text.utf8, cells: width) : draw(text, cells: width)
        }
        let mark = ellipsis.count < limit ? ellipsis : ""
        if isPlain {
            let kept = limit - mark.count
            return draw(plain: text.utf8.prefix(kept), cells: kept) + draw(mark, cells: mark.count)
        }
        var kept = ""
        var used = 0
        for character in text {
            let cells = CellWidth.of(character)
            guard used + cells <= limit - mark.count else { break }
            kept.append(character)
            used += cells
        }
        return draw(kept + mark, cells: used + mark.count)
    }

    /// Adds `character`, of one cell, so many times: a part of a bar, which is long and drawn often.
    mutating func add(_ character: Unicode.Scalar, count: Int) {
        guard count > 0 else { return }
        settle()
        cells += count
        if character.isASCII || !isUTF8 {
            bytes.append(
                contentsOf: repeatElement(character.isASCII ? UInt8(character.value) : 0x3F, count: count))
        } else {
            let coded = UTF8.encode(character)
            for _ in 0..<count { if let coded { bytes.append(contentsOf: coded) } }
        }
    }

    /// Adds `text` in `width` cells: cut if longer, spaces behind it if shorter.
    package mutating func add(_ text: String, width: Int) {
        space(width - add(text, limit: width))
    }

    /// Adds what another line draws.
    mutating func add(_ line: FrameLine) {
        settle()
        bytes += line.bytes
        cells += line.cells
    }

    /// Adds spaces.
    package mutating func space(_ count: Int) { owed += max(0, count) }

    /// Adds a colour sequence, which takes no cells.
    package mutating func color(_ color: TerminalColor) {
        bytes.append(contentsOf: color.sequence.utf8)
    }

    /// Draws printable ASCII.
    private mutating func draw(plain text: some Collection<UInt8>, cells width: Int) -> Int {
        settle()
        bytes.append(contentsOf: text)
        cells += width
        return width
    }

    private mutating func draw(_ text: String, cells width: Int) -> Int {
        settle()
        if isUTF8 {
            bytes.append(contentsOf: text.utf8)
            cells += width
            return width
        }
        let start = bytes.count
        for character in text { bytes.append(character.isASCII ? character.asciiValue ?? 0x3F : 0x3F) }
        cells += bytes.count - start
        return bytes.count - start
    }

    private mutating func settle() {
        guard owed > 0 else { return }
        bytes.append(contentsOf: repeatElement(0x20, count: owed))
        cells += owed
        owed = 0
    }
}

/// The few colours rows use, from the sixteen that every theme has made readable.
package enum TerminalColor: Hashable, Sendable {
    /// Back to normal.
    case normal
    /// Less bright, for what is old or does not matter.
    case dim
    /// At work.
    case cyan
    /// Went well.
    case green
    /// Wants a look.
    case yellow
    /// Went wrong.
    case red

    /// The sequence that selects it (SGR).
    package var sequence: String {
        switch self {
        case .normal: "\u{1B}[0m"
        case .dim: "\u{1B}[2m"
        case .cyan: "\u{1B}[36m"
        case .green: "\u{1B}[32m"
        case .yellow: "\u{1B}[33m"
        case .red: "\u{1B}[31m"
        }
    }
}

/// How many cells of a terminal a text takes.
///
/// Where terminals differ, the wider answer: a row that is a cell short looks a little odd, one that is a
/// cell too long breaks the frame.
/// - Source: Unicode Standard Annex 11; wcwidth as Markus Kuhn's and its Python port define it.
package enum CellWidth {
    /// The cells of a whole text; control characters count none and should not be there.
    package static func of(_ text: some StringProtocol) -> Int {
        var cells = 0
        for byte in text.utf8 {
            guard (0x20..<0x7F).contains(byte) else {
                return text.reduce(0) { $0 + of($1) }
            }
            cells += 1
        }
        return cells
    }

    /// The cells of a whole text, which rows need most.
    package static func of(_ text: String) -> Int { measure(text).cells }

    /// The cells of a whole text, and whether it is printable ASCII, of which every byte is one.
    static func measure(_ text: String) -> (cells: Int, isPlain: Bool) {
        let bytes = text.utf8.span
        var others: UInt8 = 0
        for index in bytes.indices { others |= bytes[index] &- 0x20 > 0x5E ? 1 : 0 }
        guard others != 0 else { return (bytes.count, true) }
        return (text.reduce(0) { $0 + of($1) }, false)
    }

    /// The cells of what a person sees as one character.
    package static func of(_ character: Character) -> Int {
        var cells = 0
        var isJoined = false
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0x200D: isJoined = true
            // The emoji form of what is else a narrow sign.
            case 0xFE0F: cells = max(cells, 2)
            // A skin tone colours the emoji before it.
            case 0x1F3FB...0x1F3FF where cells > 0: break
            default:
                if !isJoined { cells += of(scalar) }
                isJoined = false
            }
        }
        return cells
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        // Latin, and what bars are drawn with: most of what is not ASCII, without a look into the tables.
        // Soft hyphens are drawn.
        if (0x20..<0x7F).contains(value) || (0xA0..<0x300).contains(value) { return 1 }
        if (0x2500...0x25FC).contains(value) { return 1 }
        if isWide(value) || scalar.properties.isEmojiPresentation { return isRegional(value) ? 1 : 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .surrogate, .lineSeparator,
            .paragraphSeparator:
            return 0
        default: return isHangulTail(value) ? 0 : 1
        }
    }

    /// Half a flag; two of them make one of two cells.
    private static func isRegional(_ value: UInt32) -> Bool { (0x1F1E6...0x1F1FF).contains(value) }

    /// Vowels and final consonants that go into the cells of the consonant before them.
    private static func isHangulTail(_ value: UInt32) -> Bool {
        (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value)
    }

    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        var low = 0
        var high = wide.count
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }

    /// East Asian wide and fullwidth, without the emoji; ranges that are wide but for a few gaps are whole.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F2FF,
        0x20000...0x3FFFD,
    ]
}

/// Breaks text for people into lines that fit.
package enum LineBreaker {
    /// `text` in lines of at most `columns` cells, broken at spaces; a word that is longer stands alone.
    package static func lines(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, CellWidth.of(last) + 1 + CellWidth.of(word) <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

/// Fits the columns of a table into the width of a terminal.
package enum ColumnFit {
    /// The blanks between two columns.
    package static let gap = 2

    /// The cells each column gets: the widest of those that may be cut lose theirs first.
    ///
    /// - Parameters:
    ///   - natural: the cells of each column's longest text.
    ///   - flexible: the columns that may be cut.
    ///   - least: no column is cut to less, also where the table is too wide then.
    ///   - columns: the cells of a line.
    /// - Returns: the cells of each column.
    package static func widths(
        _ natural: [Int], flexible: Set<Int>, least: Int = 8, columns: Int
    ) -> [Int] {
        var widths = natural
        var excess = natural.reduce(0, +) + gap * max(0, natural.count - 1) - columns
        while excess > 0 {
            let wide = flexible.filter { widths[$0] > least }
            guard let most = wide.map({ widths[$0] }).max() else { break }
            let widest = wide.filter { widths[$0] == most }
            // Down to the next one at once, all of the widest alike.
            let next = max(least, wide.map { widths[$0] }.filter { $0 < most }.max() ?? least)
            let step = max(1, min(most - next, excess / widest.count))
            for column in widest.sorted() where excess > 0 {
                let cut = min(step, excess)
                widths[column] -= cut
                excess -= cut
            }
        }
        return widths
    }

    /// `text` in at most `cells` cells, `mark` in place of what is cut off.
    package static func cut(_ text: String, to cells: Int, mark: String = "…") -> String {
        guard CellWidth.of(text) > cells else { return text }
        let room = cells - CellWidth.of(mark)
        var (shown, width) = ("", 0)
        for character in text {
            width += CellWidth.of(character)
            guard width <= room else { break }
            shown.append(character)
        }
        return shown + mark
    }

    /// `text` in lines of at most `columns` cells, cut at spaces; those after the first begin with `hang` blanks.
    ///
    /// A word that is longer than a line keeps one to itself. Colours take no room.
    package static func wrap(_ text: String, hang: Int, columns: Int) -> [String] {
        var lines: [String] = []
        var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
        var line = String(words.popFirst() ?? "")
        var width = CellWidth.of(withoutColors(line[...]))
        for word in words {
            let cells = CellWidth.of(withoutColors(word))
            if width + 1 + cells > columns, width > hang {
                lines.append(line)
                (line, width) = (String(repeating: " ", count: hang) + word, hang + cells)
            } else {
                line += " " + word
                width += 1 + cells
            }
        }
        return lines + [line]
    }

    /// The text without what sets its colour: `ESC [ 3 2 m`.
    private static func withoutColors(_ text: Substring) -> String {
        guard text.utf8.contains(0x1B) else { return String(text) }
        var plain = ""
        var isColor = false
        for character in text {
            if character == "\u{1B}" { isColor = true }
            if !isColor { plain.append(character) }
            if isColor, character == "m" { isColor = false }
        }
        return plain
    }
}
