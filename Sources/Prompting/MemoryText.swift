/// Changes that a bot makes in the text of its memory, which is Markdown.
package enum MemoryText {
    /// The text with `addition` as its last lines.
    package static func appending(_ addition: String, to text: String) -> String {
        let start = trimmed(text)
        return (start.isEmpty ? "" : start + "\n") + trimmed(addition) + "\n"
    }

    /// The text with `content` below the heading `section`, which is added at the end where there is none.
    ///
    /// A section ends at the next heading of its level, or of a higher one.
    package static func replacing(_ section: String, by content: String, in text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let body = trimmed(content)
        guard let start = lines.firstIndex(where: { heading($0)?.title == section }),
            let level = heading(lines[start])?.level
        else {
            let before = trimmed(text)
            return (before.isEmpty ? "" : before + "\n\n") + "## \(section)\n"
                + (body.isEmpty ? "" : body + "\n")
        }
        let rest = lines[(start + 1)...]
        let end = rest.firstIndex { heading($0).map { $0.level <= level } ?? false } ?? lines.endIndex
        var result = lines[...start].map(String.init)
        if !body.isEmpty { result.append(body) }
        let after = lines[end...].map(String.init)
        if !after.allSatisfy(\.isEmpty) { result += [""] + after }
        return trimmed(result.joined(separator: "\n")) + "\n"
    }

    /// The level and the title of a heading; nil: the line is none.
    private static func heading(_ line: Substring) -> (level: Int, title: String)? {
        let level = line.prefix { $0 == "#" }.count
        guard (1...6).contains(level), line.dropFirst(level).first == " " else { return nil }
        let title = line.dropFirst(level).split(separator: " ").joined(separator: " ")
        return (level, title)
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.last?.isWhitespace == true { rest.removeLast() }
        while rest.first?.isNewline == true { rest.removeFirst() }
        return String(rest)
    }
}
