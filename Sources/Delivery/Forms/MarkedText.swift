import Tracking

/// The body of a notice as pieces in their styles, for services that set text in their own way.
struct MarkedText {
    /// The pieces of each line.
    private(set) var lines: [[Markdown.Span]]

    /// The body of a notice; one without markup is plain text.
    init(_ notice: Notice) {
        let texts = notice.body.spoken.split(separator: "\n", omittingEmptySubsequences: false)
        switch notice.markup {
        case .markdown: lines = Markdown(notice.body).spanLines
        case .markdownLines: lines = texts.map { Markdown.spans(of: String($0)) }
        case nil: lines = texts.map { [Markdown.Span(String($0))] }
        }
    }

    /// At most `limit` long, where a piece has the `length` that is given for it, and a line's end one.
    ///
    /// What is longer is cut between two characters and ends in `…`, which counts as one.
    func cut(to limit: Int, length: (Markdown.Span) -> Int) -> MarkedText {
        let whole = lines.reduce(lines.count - 1) { $0 + $1.reduce(0) { $0 + length($1) } }
        guard whole > limit else { return self }
        let end = Markdown.Span("…")
        var (kept, room) = (self, limit - length(end))
        kept.lines = []
        guard room >= 0 else { return kept }
        for line in lines {
            if !kept.lines.isEmpty { room -= 1 }
            kept.lines.append([])
            for span in line {
                let size = length(span)
                if size <= room {
                    room -= size
                    kept.lines[kept.lines.count - 1].append(span)
                    continue
                }
                if let part = Self.prefix(of: span, within: room, length) {
                    kept.lines[kept.lines.count - 1].append(part)
                }
                kept.lines[kept.lines.count - 1].append(end)
                return kept
            }
            guard room > 0 else { break }
        }
        kept.lines[kept.lines.count - 1].append(end)
        return kept
    }

    /// The longest beginning of a piece that has room; nil: not one character.
    private static func prefix(
        of span: Markdown.Span, within room: Int, _ length: (Markdown.Span) -> Int
    ) -> Markdown.Span? {
        let characters = Array(span.text)
        var (fits, over) = (0, characters.count)
        while over - fits > 1 {
            let middle = (fits + over) / 2
            let part = Markdown.Span(String(characters[..<middle]), style: span.style, link: span.link)
            if length(part) <= room { fits = middle } else { over = middle }
        }
        return fits == 0
            ? nil : Markdown.Span(String(characters[..<fits]), style: span.style, link: span.link)
    }

    /// As a place shows it.
    func text(for place: some MarkdownPlace) -> String {
        lines.map { $0.map(place.show).joined() }.joined(separator: "\n")
    }
}

extension Notice {
    /// The body without the marks of its markup.
    var plainBody: String { markup == nil ? body : MarkedText(self).text(for: PlainPlace()) }
}

/// The HTML that mails, Telegram and Matrix know: `b`, `i`, `code` and `a`; code is in no other style, as Telegram wants.
struct HTMLPlace: MarkdownPlace {
    func show(_ span: Markdown.Span) -> String {
        var text = FormText.html(span.text)
        if span.style.contains(.code) {
            text = "<code>\(text)</code>"
        } else {
            if span.style.contains(.italic) { text = "<i>\(text)</i>" }
            if span.style.contains(.bold) { text = "<b>\(text)</b>" }
        }
        guard let link = span.link else { return text }
        return "<a href=\"\(FormText.html(link).replacing("\"", with: "&quot;"))\">\(text)</a>"
    }

    func show(code: String) -> String { "<code>\(FormText.html(code))</code>" }
}

/// The Markdown of Discord, Mattermost and Gotify: what is no mark of ours is escaped.
struct EscapedMarkdownPlace: MarkdownPlace {
    func show(_ span: Markdown.Span) -> String {
        if let link = span.link {
            return span.text == link
                ? Self.escaped(link) : "[\(Self.escaped(span.text))](\(Self.address(link)))"
        }
        if span.style.contains(.code) { return show(code: span.text) }
        let mark = (span.style.contains(.bold) ? "**" : "") + (span.style.contains(.italic) ? "*" : "")
        let core = span.text.trimmingBlanks
        guard !mark.isEmpty, !core.isEmpty else { return Self.escaped(span.text) }
        // A mark clings to a letter, or it is none.
        let (before, after) = (
            span.text.prefix { $0.isWhitespace }, span.text.reversed().prefix { $0.isWhitespace }
        )
        return before + mark + Self.escaped(String(core)) + String(mark.reversed()) + String(after.reversed())
    }

    /// An address as it stands behind the text of a link: a bracket in it would end it.
    static func address(_ url: String) -> String {
        url.replacing("(", with: "%28").replacing(")", with: "%29")
    }

    func show(code: String) -> String {
        code.contains("`") || code.allSatisfy(\.isWhitespace) ? Self.escaped(code) : "`\(code)`"
    }

    private static func escaped(_ text: String) -> String { FormText.fit(text, to: .max, as: .markdown) }
}

extension String {
    /// Without the blanks at both ends.
    fileprivate var trimmingBlanks: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return self[first...last]
    }
}
