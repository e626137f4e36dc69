/// A text as people and models mark it up: the common part of Markdown, read once and rendered for each place.
///
/// Known are headings, paragraphs, lists, quotes, fenced code, and within lines emphasis, code and links. What is not
/// known, or is marked up wrongly, stays as it was written. Nothing of it is trusted: no HTML, no images, and links only
/// to web and mail addresses.
///
/// - Complexity: linear in the length of the text, of which ``longest`` bytes are read.
/// - Source: CommonMark 0.31.
package struct Markdown: Hashable, Sendable {
    /// A block of lines.
    package enum Block: Hashable, Sendable {
        /// Its level, 1...6, and what it says.
        case heading(Int, [Span])
        /// Lines that belong together.
        case paragraph([[Span]])
        /// One entry of a list: how deep it is, from 0, its mark (`•` or `2.`), and its lines.
        case item(depth: Int, mark: String, [[Span]])
        /// Lines of a quote.
        case quote([[Span]])
        /// Lines that stand as they are.
        case code([String])
        /// A line between parts.
        case rule
    }

    /// A piece of a line, in one style.
    package struct Span: Hashable, Sendable {
        /// What it says, without marks.
        package var text: String
        /// How it is set.
        package var style: Style = []
        /// Where it leads to; nil: nowhere.
        package var link: String?

        /// A piece of plain text, unless said otherwise.
        package init(_ text: String, style: Style = [], link: String? = nil) {
            (self.text, self.style, self.link) = (text, style, link)
        }
    }

    /// How text is set.
    package struct Style: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `**bold**`.
        package static let bold = Style(rawValue: 1)
        /// `*italic*`.
        package static let italic = Style(rawValue: 2)
        /// `` `code` ``.
        package static let code = Style(rawValue: 4)
    }

    /// How many bytes of a text are read; the rest is dropped.
    package static let longest = 1 << 18

    /// The blocks, in order.
    package let blocks: [Block]

    /// One line as pieces, whatever it begins with.
    package static func spans(of line: String) -> [Span] {
        MarkdownLine(CleanText.row(String(decoding: line.utf8.prefix(longest), as: UTF8.self))[...]).spans
    }

    /// Reads a text, which may hold anything.
    package init(_ text: String) {
        var reader = MarkdownBlocks()
        let clean = String(decoding: text.utf8.prefix(Self.longest), as: UTF8.self).spoken
        for line in clean.split(separator: "\n", omittingEmptySubsequences: false) {
            reader.read(CleanText.row(String(line))[...])
        }
        blocks = reader.finish()
    }
}

/// Puts lines together to blocks.
private struct MarkdownBlocks {
    private var blocks: [Markdown.Block] = []
    /// The lines of the block that is being read.
    private var lines: [Substring] = []
    private var kind = Kind.none
    /// The marks of the fence that is open, and how far it is indented.
    private var fence: (mark: Character, count: Int, indent: Int)?
    private var code: [String] = []

    private enum Kind: Hashable {
        case none, paragraph, quote
        case item(depth: Int, mark: String)
    }

    private static let deepest = 8

    mutating func read(_ line: Substring) {
        let indent = line.prefix { $0 == " " }.count
        let text = line.dropFirst(indent)
        if let open = fence { return readCode(line, text, indent, open) }
        if text.allSatisfy(\.isWhitespace) { return end() }
        if let mark = text.first, mark == "`" || mark == "~" {
            let count = text.prefix { $0 == mark }.count
            if count >= 3, mark == "~" || !text.dropFirst(count).contains("`") {
                end()
                return fence = (mark, count, indent)
            }
        }
        if let level = Self.headingLevel(text) {
            end()
            let title = Self.title(text.dropFirst(level))
            return blocks.append(.heading(level, MarkdownLine(title).spans))
        }
        if Self.isRule(text) {
            end()
            return blocks.append(.rule)
        }
        if text.first == ">" {
            if kind != .quote { begin(.quote) }
            // Quotes in quotes are one quote.
            return lines.append(text.drop { $0 == ">" || $0 == " " })
        }
        if let (mark, rest) = Self.listMark(text) {
            begin(.item(depth: min(indent / 2, Self.deepest), mark: mark))
            return lines.append(rest)
        }
        if kind == .none { begin(.paragraph) }
        // Lines of plain text are often columns.
        lines.append(kind == .paragraph ? line : text)
    }

    mutating func finish() -> [Markdown.Block] {
        end()
        // A fence that nobody closed reaches to the end.
        if fence != nil { blocks.append(.code(code)) }
        return blocks
    }

    private mutating func readCode(
        _ line: Substring, _ text: Substring, _ indent: Int,
        _ open: (mark: Character, count: Int, indent: Int)
    ) {
        let count = text.prefix { $0 == open.mark }.count
        guard count >= open.count, text.dropFirst(count).allSatisfy(\.isWhitespace) else {
            return code.append(String(line.dropFirst(min(indent, open.indent))))
        }
        blocks.append(.code(code))
        (code, fence) = ([], nil)
    }

    private mutating func begin(_ next: Kind) {
        end()
        kind = next
    }

    private mutating func end() {
        defer { (lines, kind) = ([], .none) }
        let read = lines.map { MarkdownLine($0).spans }
        switch kind {
        case .none: break
        case .paragraph: blocks.append(.paragraph(read))
        case .quote: blocks.append(.quote(read))
        case .item(let depth, let mark): blocks.append(.item(depth: depth, mark: mark, read))
        }
    }

    private static func headingLevel(_ text: Substring) -> Int? {
        let level = text.prefix { $0 == "#" }.count
        guard (1...6).contains(level) else { return nil }
        let next = text.dropFirst(level).first
        return next == nil || next == " " ? level : nil
    }

    /// The title of a heading without the marks that may close it.
    private static func title(_ text: Substring) -> Substring {
        var rest = text.drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        let marks = rest.reversed().prefix { $0 == "#" }.count
        var bare = rest.dropLast(marks)
        guard marks > 0, bare.isEmpty || bare.last == " " else { return rest }
        while bare.last == " " { bare.removeLast() }
        return bare
    }

    private static func isRule(_ text: Substring) -> Bool {
        guard let mark = text.first, "-*_".contains(mark) else { return false }
        var count = 0
        for character in text where character != " " {
            guard character == mark else { return false }
            count += 1
        }
        return count >= 3
    }

    private static func listMark(_ text: Substring) -> (mark: String, rest: Substring)? {
        if let mark = text.first, "-*+".contains(mark), text.dropFirst().first == " " {
            return ("•", text.dropFirst(2).drop { $0 == " " })
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard (1...9).contains(digits.count), let mark = rest.first, mark == "." || mark == ")",
            rest.dropFirst().first == " "
        else { return nil }
        return ("\(digits).", rest.dropFirst(2).drop { $0 == " " })
    }
}

/// Markdown as one place shows it: how a piece is set, and how lines are.
package protocol MarkdownPlace {
    /// A piece of text in its style.
    func show(_ span: Markdown.Span) -> String
    /// A line of code that stands alone.
    func show(code: String) -> String
    /// A mark before a line: of an entry of a list, or of a quote; or a line between parts.
    func show(mark: String) -> String
}

extension MarkdownPlace {
    package func show(mark: String) -> String { mark }
}

/// Where nothing but text is shown: marks go, and a link shows its address behind its text.
package struct PlainPlace: MarkdownPlace {
    package init() {}

    package func show(_ span: Markdown.Span) -> String { span.text + span.shownAddress }

    package func show(code: String) -> String { code }
}

/// The markup of notification servers: `b`, `i`, `u` and `a`.
///
/// - Source: Desktop Notifications Specification 1.2, "Markup".
package struct MarkupPlace: MarkdownPlace {
    /// Whether the server knows links; else the address stands behind the text.
    package var hasLinks: Bool

    package init(hasLinks: Bool) { self.hasLinks = hasLinks }

    package func show(_ span: Markdown.Span) -> String {
        var text = Self.escaped(span.text)
        if span.style.contains(.italic) { text = "<i>\(text)</i>" }
        if span.style.contains(.bold) { text = "<b>\(text)</b>" }
        guard let link = span.link else { return text }
        return hasLinks
            ? "<a href=\"\(Self.escaped(link))\">\(text)</a>" : text + Self.escaped(span.shownAddress)
    }

    package func show(code: String) -> String { Self.escaped(code) }

    /// As a server that reads markup shows it unchanged.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Markdown.Span {
    /// The address, where the text does not show it.
    fileprivate var shownAddress: String {
        guard let link, link != text, link != "mailto:" + text else { return "" }
        return " (\(link))"
    }
}

extension Markdown {
    /// The text for a place, its lines without a line end at the end.
    package func text(for place: some MarkdownPlace) -> String {
        lines(for: place).joined(separator: "\n")
    }

    /// The lines for a place; an empty one between blocks, but not between the entries of a list.
    package func lines(for place: some MarkdownPlace) -> [String] {
        var lines: [String] = []
        var last: Block?
        for block in blocks {
            if let last, !last.continues(with: block) { lines.append("") }
            lines += Self.lines(of: block, place)
            last = block
        }
        return lines
    }

    /// The same lines as pieces in their styles; marks and indents are pieces of plain text.
    package var spanLines: [[Span]] {
        var (lines, last): ([[Span]], Block?) = ([], nil)
        for block in blocks {
            if let last, !last.continues(with: block) { lines.append([]) }
            lines += Self.spanLines(of: block)
            last = block
        }
        return lines
    }

    private static func spanLines(of block: Block) -> [[Span]] {
        switch block {
        case .heading(_, let spans):
            return [spans.map { Span($0.text, style: $0.style.union(.bold), link: $0.link) }]
        case .paragraph(let texts): return texts
        case .item(let depth, let mark, let texts):
            let indent = String(repeating: "  ", count: depth)
            let hang = String(repeating: " ", count: mark.count + 1)
            return texts.enumerated().map { [Span(indent + ($0 == 0 ? "\(mark) " : hang))] + $1 }
        case .quote(let texts): return texts.map { [Span("│ ")] + $0 }
        case .code(let texts): return texts.map { $0.isEmpty ? [] : [Span($0, style: .code)] }
        case .rule: return [[Span("───")]]
        }
    }

    private static func lines(of block: Block, _ place: some MarkdownPlace) -> [String] {
        func line(_ spans: [Span]) -> String { spans.map(place.show).joined() }
        switch block {
        case .heading(_, let spans):
            return [line(spans.map { Span($0.text, style: $0.style.union(.bold), link: $0.link) })]
        case .paragraph(let texts): return texts.map(line)
        case .item(let depth, let mark, let texts):
            let indent = String(repeating: "  ", count: depth)
            let hang = String(repeating: " ", count: mark.count + 1)
            return texts.enumerated().map {
                "\(indent)\($0 == 0 ? "\(place.show(mark: mark)) " : hang)\(line($1))"
            }
        case .quote(let texts): return texts.map { "\(place.show(mark: "│")) \(line($0))" }
        case .code(let texts): return texts.map { "  " + place.show(code: $0) }
        case .rule: return [place.show(mark: "───")]
        }
    }
}

extension Markdown.Block {
    /// Whether the next block follows without an empty line.
    fileprivate func continues(with next: Markdown.Block) -> Bool {
        switch (self, next) {
        case (.item, .item), (.heading, _): true
        default: false
        }
    }
}
