/// The pieces of one line of Markdown.
///
/// Each mark is looked at once, and paired from a stack of those that are open, so that no line takes longer than its
/// length.
struct MarkdownLine {
    private typealias Span = Markdown.Span

    /// A piece of text, or a run of `*` or `_` that may begin or end emphasis.
    private struct Piece {
        var span: Markdown.Span
        var mark: Mark?
    }

    private struct Mark {
        var character: Character
        var count: Int
        var mayOpen: Bool
        var mayClose: Bool
    }

    /// Marks that may be open at a time; more stay as they are.
    private static let mostOpen = 64
    private static let longestLink = 2000

    private let characters: [Character]
    private var pieces: [Piece] = []
    private var plain = ""
    /// The places of backtick runs by their length, the first of them last.
    private var ticks: [Int: [Int]] = [:]
    /// Where `](` stands, the first of them last.
    private var middles: [Int] = []

    /// The line as pieces, neighbours of one style together.
    private(set) var spans: [Markdown.Span] = []

    init(_ line: Substring) {
        characters = Array(line)
        index()
        var place = 0
        while place < characters.count { place = read(at: place) }
        flush()
        pair()
        spans = Self.joined(pieces)
    }

    /// Notes where what closes something may stand, from the end, so that each place is looked at once.
    private mutating func index() {
        var place = characters.count
        var run = 0
        while place >= 0 {
            place -= 1
            if place >= 0, characters[place] == "`" {
                run += 1
                continue
            }
            if run > 0 { ticks[run, default: []].append(place + 1) }
            run = 0
            if place >= 0, characters[place] == "]", place + 1 < characters.count,
                characters[place + 1] == "("
            {
                middles.append(place)
            }
        }
    }

    // MARK: Reading

    /// Reads what stands at a place; returns the next one.
    private mutating func read(at place: Int) -> Int {
        switch characters[place] {
        case "\\":
            if place + 1 < characters.count, let ascii = characters[place + 1].asciiValue,
                Self.isPunctuation(ascii)
            {
                plain.append(characters[place + 1])
                return place + 2
            }
        case "`":
            if let end = readCode(at: place) { return end }
            let count = run(of: "`", at: place)
            plain += String(repeating: "`", count: count)
            return place + count
        case "[":
            if let end = readLink(at: place) { return end }
        case "<":
            if let end = readAddress(at: place) { return end }
        case "*", "_": return readMark(at: place)
        default: break
        }
        plain.append(characters[place])
        return place + 1
    }

    private mutating func readCode(at place: Int) -> Int? {
        let count = run(of: "`", at: place)
        while let last = ticks[count]?.last, last <= place { ticks[count]?.removeLast() }
        guard let end = ticks[count]?.last else { return nil }
        var code = String(characters[(place + count)..<end])
        if code.count > 2, code.first == " ", code.last == " ", code.contains(where: { $0 != " " }) {
            code = String(code.dropFirst().dropLast())
        }
        add(Span(code, style: .code))
        return end + count
    }

    /// `[text](address)`; the text is plain.
    private mutating func readLink(at place: Int) -> Int? {
        while let last = middles.last, last <= place { middles.removeLast() }
        guard let middle = middles.last else { return nil }
        // One that begins later is meant.
        if characters[(place + 1)..<middle].contains("[") { return nil }
        let most = min(characters.count, middle + 2 + Self.longestLink)
        guard let end = characters[(middle + 2)..<most].firstIndex(where: { $0 == ")" || $0 == "[" }),
            characters[end] == ")"
        else { return nil }
        // A title may follow the address.
        let address = characters[(middle + 2)..<end].prefix { $0 != " " }
        let text = String(characters[(place + 1)..<middle])
        guard !text.isEmpty, let link = Self.safe(String(address)) else { return nil }
        add(Span(text, link: link))
        return end + 1
    }

    /// `<https://example.org>`.
    private mutating func readAddress(at place: Int) -> Int? {
        let most = min(characters.count, place + Self.longestLink)
        // Without a letter behind it nothing is searched: a line may consist of these.
        guard place + 1 < most, characters[place + 1].isLetter,
            let end = characters[(place + 1)..<most].firstIndex(where: { $0 == ">" || $0 == "<" || $0 == " " }
            ),
            characters[end] == ">", let link = Self.safe(String(characters[(place + 1)..<end]))
        else { return nil }
        add(Span(link, link: link))
        return end + 1
    }

    private mutating func readMark(at place: Int) -> Int {
        let character = characters[place]
        let count = run(of: character, at: place)
        let before = place > 0 ? characters[place - 1] : " "
        let after = place + count < characters.count ? characters[place + count] : " "
        let opensLeft = Self.flanks(after, other: before)
        let closesRight = Self.flanks(before, other: after)
        var mark = Mark(character: character, count: count, mayOpen: opensLeft, mayClose: closesRight)
        if character == "_" {
            // Within a word it is part of a name.
            mark.mayOpen = opensLeft && (!closesRight || Self.isPunctuation(before))
            mark.mayClose = closesRight && (!opensLeft || Self.isPunctuation(after))
        }
        flush()
        pieces.append(Piece(span: Span(String(repeating: character, count: count)), mark: mark))
        return place + count
    }

    /// Whether a mark beside `inner` and before or behind `other` clings to `inner`.
    ///
    /// - Source: CommonMark 0.31, "left-flanking delimiter run".
    private static func flanks(_ inner: Character, other: Character) -> Bool {
        !inner.isWhitespace && (!isPunctuation(inner) || other.isWhitespace || isPunctuation(other))
    }

    private func run(of character: Character, at place: Int) -> Int {
        characters[place...].prefix { $0 == character }.count
    }

    private mutating func add(_ span: Markdown.Span) {
        flush()
        pieces.append(Piece(span: span))
    }

    private mutating func flush() {
        guard !plain.isEmpty else { return }
        pieces.append(Piece(span: Span(plain)))
        plain = ""
    }

    // MARK: Emphasis

    /// Pairs the marks; a style is switched on where a pair begins, and off where it ends.
    private mutating func pair() {
        var open: [Int] = []
        // By how much a style gets deeper before each piece: what is left of an opening mark is not in it.
        let none = [Int](repeating: 0, count: pieces.count + 1)
        var (bold, italic) = (none, none)
        for place in pieces.indices {
            guard var mark = pieces[place].mark else { continue }
            while mark.mayClose, mark.count > 0,
                let index = open.lastIndex(where: { pieces[$0].mark?.character == mark.character })
            {
                let opener = open[index]
                let width = min(2, mark.count, pieces[opener].mark?.count ?? 0)
                open.removeSubrange((index + 1)...)
                if width == 2 {
                    bold[opener + 1] += 1
                    bold[place] -= 1
                } else {
                    italic[opener + 1] += 1
                    italic[place] -= 1
                }
                mark.count -= width
                shorten(opener, by: width)
                if pieces[opener].mark?.count == 0 { open.removeLast() }
                shorten(place, by: width)
            }
            if mark.mayOpen, mark.count > 0, open.count < Self.mostOpen { open.append(place) }
        }
        var (boldDepth, italicDepth) = (0, 0)
        for place in pieces.indices {
            boldDepth += bold[place]
            italicDepth += italic[place]
            if boldDepth > 0 { pieces[place].span.style.insert(.bold) }
            if italicDepth > 0 { pieces[place].span.style.insert(.italic) }
        }
    }

    private mutating func shorten(_ place: Int, by width: Int) {
        pieces[place].mark?.count -= width
        pieces[place].span.text.removeLast(width)
    }

    private static func joined(_ pieces: [Piece]) -> [Markdown.Span] {
        var spans: [Markdown.Span] = []
        for piece in pieces where !piece.span.text.isEmpty {
            if let last = spans.last, last.style == piece.span.style, last.link == piece.span.link {
                spans[spans.count - 1].text += piece.span.text
            } else {
                spans.append(piece.span)
            }
        }
        return spans
    }

    // MARK: Characters

    /// An address that may be followed: of the web, or of mail.
    private static func safe(_ address: String) -> String? {
        let lower = address.prefix(8).lowercased()
        guard ["http://", "https://", "mailto:"].contains(where: lower.hasPrefix),
            address.utf8.count <= longestLink,
            address.unicodeScalars.allSatisfy({
                $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" && $0 != "<"
            })
        else { return nil }
        return address
    }

    private static func isPunctuation(_ character: Character) -> Bool {
        character.isPunctuation || character.isSymbol
    }

    private static func isPunctuation(_ ascii: UInt8) -> Bool {
        switch ascii {
        case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
