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
