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
