package import Tracking

/// Markdown on a terminal: bold, italic and coloured where it shows colours, else as plain text.
package struct TerminalPlace: MarkdownPlace {
    private let usesColor: Bool
    private let hasGlyphs: Bool

    /// A terminal of these traits.
    package init(_ traits: TerminalTraits) {
        (usesColor, hasGlyphs) = (traits.usesColor, traits.hasGlyphs)
    }

    package func show(_ span: Markdown.Span) -> String {
        let text = PlainPlace().show(span)
        guard usesColor else { return text }
        var codes: [String] = []
        if span.style.contains(.bold) { codes.append("1") }
        if span.style.contains(.italic) { codes.append("3") }
        if span.style.contains(.code) { codes.append("36") }
        if span.link != nil { codes.append("4") }
        return codes.isEmpty ? text : "\u{1B}[\(codes.joined(separator: ";"))m\(text)\u{1B}[0m"
    }

    package func show(code: String) -> String { usesColor ? "\u{1B}[36m\(code)\u{1B}[0m" : code }

    package func show(mark: String) -> String {
        guard !hasGlyphs else { return mark }
        return ["•": "*", "│": "|", "───": "---"][mark] ?? mark
    }
}
