/// The last lines that a run printed, as a person would read them.
///
/// Blank lines are left out. Of a line that was drawn again and again with carriage returns the last version counts.
package struct LastLines: Hashable, Sendable {
    /// One of them.
    package struct Line: Hashable, Sendable {
        /// Without terminal sequences and control characters, on one line, at most 500 characters.
        package var text: String
        /// Whether it begins with white space: a line that belongs to the one above.
        package var isIndented: Bool
    }

    /// How many of the last bytes of a stream are kept for it.
    package static let byteLimit = 4096
    /// The longest ``text(most:)`` in bytes.
    package static let textLimit = 2048
    private static let lineLimit = 500

    /// Oldest first.
    package let lines: [Line]

    /// The lines of the last bytes of a stream; what is `hidden` is replaced before anything else happens to them.
    ///
    /// Where there are as many bytes as are kept at most, the first line is taken for the rest of one, and left out.
    package init(_ bytes: some Sequence<UInt8>, hiding hidden: HiddenTexts = HiddenTexts()) {
        let bytes = Array(bytes)
        var rest = hidden.hide(in: bytes)[...]
        if bytes.count >= Self.byteLimit {
            // A text to hide may be cut in two as well.
            rest =
                rest.firstIndex(of: 0x0A).map { rest[rest.index(after: $0)...] }
                ?? hidden.hide(in: Array(hidden.dropCutBeginning(bytes)))[...]
        }
        lines = rest.split(separator: 0x0A).compactMap { Self.line($0, hiding: hidden) }
    }

    private static func line(_ bytes: ArraySlice<UInt8>, hiding hidden: HiddenTexts) -> Line? {
        // What a carriage return leaves on the screen.
        for part in bytes.split(separator: 0x0D).reversed() {
            let text = CleanText.line(
                hidden.clean(String(decoding: part, as: UTF8.self)), limit: lineLimit)
            if !text.isEmpty { return Line(text: text, isIndented: part.first == 0x20 || part.first == 0x09) }
        }
        return nil
    }

    /// The newest of them, at most `most`, separated by line feeds, in at most ``textLimit`` bytes.
    ///
    /// - Returns: nil: there is none.
    package func text(most: Int = .max) -> String? {
        var kept: [String] = []
        var room = Self.textLimit
        for line in lines.suffix(most).reversed() {
            room -= line.text.utf8.count + (kept.isEmpty ? 0 : 1)
            guard room >= 0 else { break }
            kept.append(line.text)
        }
        if kept.isEmpty, let last = lines.last { return CleanText.line(last.text, limit: Self.textLimit / 8) }
        return kept.isEmpty ? nil : kept.reversed().joined(separator: "\n")
    }
}

/// Texts that must not be shown, such as the values of secrets: whatever holds one shows ``mark`` instead.
package struct HiddenTexts: Hashable, Sendable {
    /// What is shown in place of each.
    package static let mark = "***"
    /// The line that is shown where nobody knows what to hide.
    package static let reason = "its texts are withheld: its secrets may have changed since it began"
    /// Shorter ones are not hidden: they would hide parts of most words.
    package static let shortest = 4

    /// The longest first, so that one that contains another is hidden whole.
    private let texts: [[UInt8]]

    /// Hides each of `texts` that is long enough, and each such line of one that has several.
    package init(_ texts: some Sequence<String> = []) {
        var found: Set<[UInt8]> = []
        for text in texts {
            found.insert(Array(text.utf8))
            found.insert(Array(Self.line(text).utf8))
            for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                // A line such as `}` of a file with several is no secret.
                if line.count >= 2 * Self.shortest { found.insert(Array(line)) }
            }
        }
        self.texts = found.filter { $0.count >= Self.shortest }.sorted { $0.count > $1.count }
    }

    /// Whether nothing is hidden.
    package var isEmpty: Bool { texts.isEmpty }
    /// The bytes of the longest.
    package var longest: Int { texts.first?.count ?? 0 }

    /// The bytes with ``mark`` in place of each hidden text, even one with control characters or terminal sequences
    /// inside it: they would be removed later, and the text would be whole again.
    package func hide(in bytes: [UInt8]) -> [UInt8] { hide(in: bytes[...], isWhole: true).shown }

    /// The same of the beginning of bytes, as far as what is yet to come changes nothing of it; and the rest, which may be
    /// the beginning of a hidden text.
    fileprivate func hide(
        in bytes: ArraySlice<UInt8>, isWhole: Bool
    ) -> (shown: [UInt8], rest: ArraySlice<UInt8>) {
        guard !isEmpty else { return (Array(bytes), []) }
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.first {
            switch match(rest, isWhole: isWhole) {
            case .whole(let after):
                shown += Self.mark.utf8
                rest = after
            case .begun: return (shown, rest)
            case .none:
                shown.append(byte)
                rest = rest.dropFirst()
            }
        }
        return (shown, [])
    }

    private enum Match {
        case none
        /// All of a hidden text stands there; this follows.
        case whole(ArraySlice<UInt8>)
        /// The bytes end inside what may be one.
        case begun
    }

    /// Whether the bytes begin with a hidden text, the longest first.
    private func match(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Match {
        for text in texts {
            switch Self.match(bytes, text) {
            case .none: continue
            case .begun where isWhole: continue
            case let found: return found
            }
        }
        return .none
    }

    private static func match(_ bytes: ArraySlice<UInt8>, _ text: [UInt8]) -> Match {
        guard bytes.first == text[0] else { return .none }
        var rest = bytes.dropFirst()
        for wanted in text.dropFirst() {
            while let byte = rest.first, byte != wanted {
                guard byte < 0x20 || byte == 0x7F, byte != 0x0A else { return .none }
                rest.removeFirst()
                if byte == 0x1B { EscapeStripper.skipSequence(&rest) }
            }
            guard rest.popFirst() != nil else { return .begun }
        }
        return .whole(rest)
    }

    /// The bytes without a beginning that may be the end of a hidden text; what is removed later does not count.
    package func dropCutBeginning(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        // A terminal sequence may have been cut as well.
        var left = isEmpty ? 0 : longest + Self.longestSequence
        while left > 0, let byte = rest.popFirst() {
            if byte == 0x1B {
                EscapeStripper.skipSequence(&rest)
            } else if byte >= 0x20, byte != 0x7F {
                left -= 1
            }
        }
        return rest
    }

    private static let longestSequence = 64

    /// The bytes without an end that may be the beginning of a hidden text, with ``mark`` in place of each.
    package func hideCut(in bytes: [UInt8]) -> [UInt8] { hide(in: bytes[...], isWhole: false).shown }

    /// The text as one line without what ``CleanText`` removes, with ``mark`` in place of each hidden one.
    ///
    /// Hidden before and after: what is removed may have stood inside a hidden text.
    package func clean(_ text: String) -> String { isEmpty ? text : hide(in: Self.line(hide(in: text))) }

    private static func line(_ text: String) -> String { CleanText.line(text, limit: text.utf8.count + 1) }

    /// The text with ``mark`` in place of each hidden one.
    package func hide(in text: String) -> String {
        isEmpty ? text : String(decoding: hide(in: Array(text.utf8)), as: UTF8.self)
    }
}

/// Hides texts in bytes that come in pieces, wherever these are cut.
///
/// What may be the beginning of a hidden text is held back until more comes.
package struct HidingStream: Sendable {
    /// More than this is taken for a hidden text: nothing else is so long in its control characters.
    private static let mostHeld = 8192

    private let hidden: HiddenTexts
    private var held: [UInt8] = []

    /// A stream of which nothing has come yet.
    package init(_ hidden: HiddenTexts = HiddenTexts()) { self.hidden = hidden }

    /// The next bytes to show.
    package mutating func hide(_ piece: [UInt8]) -> [UInt8] {
        guard !hidden.isEmpty else { return piece }
        var (shown, rest) = hidden.hide(in: (held + piece)[...], isWhole: false)
        if rest.count > Self.mostHeld {
            shown += HiddenTexts.mark.utf8
            rest = []
        }
        held = Array(rest)
        return shown
    }

    /// What is still held back: the stream ends here.
    package mutating func finish() -> [UInt8] {
        defer { held = [] }
        return hidden.hide(in: held)
    }
}
