/// One finished line: the bytes that draw it, and the cells it takes.
package struct FrameLine: Hashable, Sendable {
    /// UTF-8 with colour sequences; no line end, no movement, no trailing space.
    package private(set) var bytes: [UInt8] = []
    /// The cells up to the last thing drawn.
    package private(set) var cells = 0

    /// Spaces that count but are only drawn once something follows.
    private var owed = 0
    private let isUTF8: Bool
    private let ellipsis: String

    /// An empty line for a terminal.
    package init(_ traits: TerminalTraits) {
        isUTF8 = traits.isUTF8
        ellipsis = traits.hasGlyphs ? "…" : "..."
        bytes.reserveCapacity(192)
    }

    /// Adds `text`, cut with an ellipsis to `limit` cells, and gives how many it took.
    @discardableResult
    package mutating func add(_ text: String, limit: Int = .max) -> Int {
        guard limit > 0, !text.isEmpty else { return 0 }
        let width = CellWidth.of(text)
        guard width > limit else { return draw(text, cells: width) }
        let mark = ellipsis.count < limit ? ellipsis : ""
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

    /// Adds `text` that is known to take `cells` cells: a part of a bar, which is long and drawn often.
    mutating func add(_ text: String, knownCells cells: Int) {
        if cells > 0 { _ = draw(text, cells: cells) }
    }

    /// Adds `text` in `width` cells: cut if longer, spaces behind it if shorter.
    package mutating func add(_ text: String, width: Int) {
        space(width - add(text, limit: width))
    }

    /// Adds spaces.
    package mutating func space(_ count: Int) { owed += max(0, count) }

    /// Adds a colour sequence, which takes no cells.
    package mutating func color(_ color: TerminalColor) {
        bytes.append(contentsOf: color.sequence.utf8)
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
