/// A key that was pressed, or text that was pasted.
package enum Key: Hashable, Sendable {
    /// Characters, typed or pasted; pasted ones may hold line feeds.
    case text(String)
    case enter, backspace, delete
    case left, right, up, down, home, end, pageUp, pageDown
    /// The Escape key alone, found by ``KeyReader/takeEscape()``.
    case escape
    /// By a word.
    case wordLeft, wordRight
    /// Ctrl-U, Ctrl-K and Ctrl-W: what stands before, behind, and the word before.
    case cutToStart, cutToEnd, cutWord
    /// Ctrl-C, Ctrl-D, Ctrl-L and Ctrl-Z.
    case interrupt, endOfInput, redraw, suspend
}

/// Makes keys of the bytes that a terminal sends, however they are cut.
///
/// - Source: xterm's control sequences: cursor keys in both modes, and bracketed paste.
package struct KeyReader: Sendable {
    private var rest: [UInt8] = []
    private var pasted: [UInt8]?
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// A paste beyond that is cut.
    private static let pasteLimit = 256 * 1024

    /// Nothing pressed yet.
    package init() {}

    /// The keys of the next bytes; a sequence or a character that they end in waits for its rest.
    package mutating func receive(_ bytes: [UInt8]) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        while !rest.isEmpty {
            if pasted != nil {
                guard let key = paste() else { break }
                keys.append(key)
                continue
            }
            let taken = rest[0] == 0x1B ? sequence(&keys) : plain(&keys)
            guard taken > 0 else { break }
            rest.removeFirst(taken)
        }
        return keys
    }

    /// Forgets a sequence that was begun, because nothing followed: the Escape key alone.
    package mutating func endSequence() { if rest.first == 0x1B, pasted == nil { rest = [] } }

    /// Whether what came last is the Escape key, when nothing followed it; it is taken then.
    package mutating func takeEscape() -> Bool {
        guard rest == [0x1B], pasted == nil else { return false }
        rest = []
        return true
    }

    /// Whether a sequence, or the Escape key, was begun.
    package var hasOpenSequence: Bool { rest.first == 0x1B && pasted == nil }

    /// What was pasted, once its end has come.
    private mutating func paste() -> Key? {
        let end = rest.indices.first { rest[$0...].starts(with: Self.pasteEnd) }
        // The mark may be cut in two.
        let count = end ?? max(0, rest.count - Self.pasteEnd.count + 1)
        let room = Self.pasteLimit - (pasted?.count ?? 0)
        pasted? += rest[..<count].prefix(max(0, room))
        rest.removeFirst(count)
        guard end != nil, let bytes = pasted else { return nil }
        rest.removeFirst(Self.pasteEnd.count)
        pasted = nil
        let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        return .text(Self.clean(text.replacing("\r", with: "\n")))
    }

    /// Text without control characters but line feeds; a tab is a space.
    private static func clean(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\t" {
                scalars.append(" ")
            } else if scalar == "\n" || scalar.properties.generalCategory != .control {
                scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Returns how many bytes it took; 0: more must come.
    private func plain(_ keys: inout [Key]) -> Int {
        let byte = rest[0]
        if byte < 0x20 || byte == 0x7F {
            if let key = Self.control[byte] { keys.append(key) }
            return 1
        }
        var end = 0
        while end < rest.count, rest[end] >= 0x20, rest[end] != 0x7F { end += 1 }
        if end == rest.count { end -= Self.cut(rest[..<end]) }
        guard end > 0 else { return 0 }
        let text = Self.clean(String(decoding: rest[..<end], as: UTF8.self))
        if !text.isEmpty { keys.append(.text(text)) }
        return end
    }

    /// How many bytes at the end are the beginning of a character.
    private static func cut(_ bytes: ArraySlice<UInt8>) -> Int {
        for (length, byte) in bytes.suffix(3).reversed().enumerated() {
            if byte & 0xC0 == 0x80 { continue }
            let whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length + 1 < whole ? length + 1 : 0
        }
        return 0
    }

    private mutating func sequence(_ keys: inout [Key]) -> Int {
        guard rest.count > 1 else { return 0 }
        switch rest[1] {
        case UInt8(ascii: "["), UInt8(ascii: "O"):
            guard let end = rest[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                // Nothing that a key sends is so long.
                return rest.count > 32 ? rest.count : 0
            }
            let name = String(decoding: rest[2...end], as: UTF8.self)
            if name == "200~" { pasted = [] } else if let key = Self.named[name] { keys.append(key) }
            return end + 1
        case UInt8(ascii: "b"): keys.append(.wordLeft)
        case UInt8(ascii: "f"): keys.append(.wordRight)
        case 0x7F, 0x08: keys.append(.cutWord)
        case 0x1B: return 1
        default: break
        }
        return 2
    }

    private static let control: [UInt8: Key] = [
        0x01: .home, 0x02: .left, 0x03: .interrupt, 0x04: .endOfInput, 0x05: .end, 0x06: .right,
        0x08: .backspace, 0x0A: .enter, 0x0B: .cutToEnd, 0x0C: .redraw, 0x0D: .enter, 0x0E: .down,
        0x10: .up, 0x15: .cutToStart, 0x17: .cutWord, 0x1A: .suspend, 0x7F: .backspace,
    ]

    private static let named: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "1~": .home, "4~": .end,
        "7~": .home, "8~": .end, "3~": .delete, "5~": .pageUp, "6~": .pageDown, "1;5C": .wordRight,
        "1;5D": .wordLeft, "1;3C": .wordRight,
        "1;3D": .wordLeft,
    ]
}

/// One line that a person edits, and the lines before it.
package struct LineEditor: Hashable, Sendable {
    /// What a key came to.
    package enum Outcome: Hashable, Sendable {
        /// The line is as it is shown next.
        case edited
        /// The line is complete; the next one is empty.
        case entered(String)
        /// Ctrl-C on an empty line, or on one that it emptied.
        case interrupted(wasEmpty: Bool)
        /// Ctrl-D on an empty line.
        case ended
        /// The screen is to be drawn again.
        case redraw
        /// Ctrl-Z.
        case suspended
    }

    /// What is seen of the line.
    package struct Window: Hashable, Sendable {
        /// The part that is seen.
        package var text: String
        /// The cell in which the cursor stands, counted from the part's first.
        package var cursor: Int

        /// A part of a line.
        package init(text: String, cursor: Int) {
            self.text = text
            self.cursor = cursor
        }
    }

    private var characters: [Character] = []
    private var cursor = 0
    private var history: [String] = []
    /// Which line of the history is edited; nil: the new one.
    private var place: Int?
    /// The new line while one of the history is edited.
    private var draft: [Character] = []

    /// No more lines are kept.
    private static let historyLimit = 500

    /// An empty line.
    package init() {}

    /// The line.
    package var text: String { String(characters) }

    /// Applies a key.
    package mutating func receive(_ key: Key) -> Outcome {
        switch key {
        case .text(let text): insert(text)
        case .enter: return enter()
        case .backspace: if cursor > 0 { remove(cursor - 1..<cursor) }
        case .delete: if cursor < characters.count { remove(cursor..<cursor + 1) }
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .up: recall((place ?? history.count) - 1)
        case .down: if let place { recall(place + 1) }
        case .cutToStart: remove(0..<cursor)
        case .cutToEnd: remove(cursor..<characters.count)
        case .cutWord: remove(wordStart..<cursor)
        case .interrupt:
            let wasEmpty = characters.isEmpty
            clear()
            return .interrupted(wasEmpty: wasEmpty)
        case .endOfInput:
            if characters.isEmpty { return .ended }
            if cursor < characters.count { remove(cursor..<cursor + 1) }
        case .pageUp, .pageDown, .escape: break
        case .redraw: return .redraw
        case .suspend: return .suspended
        }
        return .edited
    }

    private mutating func enter() -> Outcome {
        let line = text
        if !line.allSatisfy(\.isWhitespace), history.last != line {
            history = history.suffix(Self.historyLimit - 1) + [line]
        }
        clear()
        return .entered(line)
    }

    private mutating func clear() {
        (characters, cursor, place, draft) = ([], 0, nil, [])
    }

    private mutating func insert(_ text: String) {
        // An accent joins the letter before it.
        let before = String(characters[..<cursor]) + text
        characters = Array(before) + characters[cursor...]
        cursor = before.count
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private mutating func recall(_ index: Int) {
        guard index >= 0, index <= history.count else { return }
        if place == nil { draft = characters }
        characters = index == history.count ? draft : Array(history[index])
        place = index == history.count ? nil : index
        cursor = characters.count
    }

    private var wordStart: Int {
        var start = cursor
        while start > 0, characters[start - 1].isWhitespace { start -= 1 }
        while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
        return start
    }

    private var wordEnd: Int {
        var end = cursor
        while end < characters.count, characters[end].isWhitespace { end += 1 }
        while end < characters.count, !characters[end].isWhitespace { end += 1 }
        return end
    }

    /// What of the line is seen in so many cells.
    ///
    /// A line feed is shown as `⏎`. Where the line is longer, the part around the cursor is shown.
    package func window(cells: Int) -> Window {
        let shown = characters.map { $0 == "\n" ? Character("⏎") : $0 }
        let room = max(2, cells - 1)
        var (start, width) = (cursor, 0)
        while start > 0, width + CellWidth.of(shown[start - 1]) <= room {
            start -= 1
            width += CellWidth.of(shown[start])
        }
        var (end, all) = (cursor, width)
        while end < shown.count, all + CellWidth.of(shown[end]) <= room {
            all += CellWidth.of(shown[end])
            end += 1
        }
        return Window(text: String(shown[start..<end]), cursor: width)
    }
}
