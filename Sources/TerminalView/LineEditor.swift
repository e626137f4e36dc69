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
