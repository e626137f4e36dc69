/// The oldest part of a conversation, which its bot is to summarize before there is too much of it.
package struct Compaction: Hashable, Sendable {
    /// How many lines it is, from the first on.
    package var count: Int
    /// The lines as turns, oldest first.
    package var turns: [SpokenTurn]
    /// The row of the last one.
    package var through: Int64
}

extension Conversation {
    /// What is to be summarized now; nil: there is room for more.
    ///
    /// It is time where three quarters of what a prompt may hold are used. About half of it is left to be shown as it is,
    /// and no question is separated from its answer. `asked` is the row of the first line that waits for an answer.
    package func compaction(of lines: [ThreadLine], asked: Int64 = .max) -> Compaction? {
        let sizes = lines.map(\.size)
        let replies = lines.count { $0.sender == nil }
        let isNear =
            sizes.reduce(0, +) > limit / 4 * 3 || replies * 2 > Self.turnLimit / 4 * 3
            || lines.count > Self.turnLimit / 2 * 3
        guard isNear else { return nil }
        var (bytes, turns, open) = (sizes.reduce(0, +), replies * 2, 0)
        var cut: Int?
        for (index, line) in lines.enumerated() {
            bytes -= sizes[index]
            if line.sender == nil { turns -= 2 }
            open = max(open, answer(of: index, in: lines) ?? index)
            guard open == index, line.sender == nil, line.number < asked else { continue }
            cut = index
            if bytes <= limit / 2, turns <= Self.turnLimit / 2 { break }
        }
        guard let cut else { return nil }
        return Compaction(
            count: cut + 1, turns: self.turns(before: Array(lines[...cut])), through: lines[cut].number)
    }

    /// The index of the bot's line that answers this one; nil: it is the bot's own, or none does.
    private func answer(of index: Int, in lines: [ThreadLine]) -> Int? {
        guard lines[index].sender != nil else { return nil }
        return lines.indices[(index + 1)...].first { later in
            lines[later].sender == nil && (lines[later].run == nil || lines[later].run == lines[index].run)
        }
    }
}

extension ThreadLine {
    /// About how many bytes it has in a prompt.
    fileprivate var size: Int {
        let quote = (quote?.text?.utf8.count ?? 0) + (file?.text?.utf8.count ?? 0)
        return text.utf8.count + quote + (sender == nil ? 0 : 80)
    }
}

/// What a bot keeps of the part of a conversation that it is no longer shown.
package enum SummaryText {
    /// The most bytes that are kept of a summary.
    package static let limit = 16 * 1024

    /// Asks for it, after the turns that it is of.
    package static let request =
        """
        [SUMMARY REQUEST - The following message was sent automatically and is not coming directly from the user or group.]

        The conversation so far will no longer be shown to you: you will be shown your summary in its place. Write that \
        summary now, for yourself: who wants what, what was decided and done, facts, names, numbers and dates, what you \
        promised, and what is open. At most 800 words, and nothing but the summary.
        """

    /// The turns with the summary of what was said before them: in the first one, where that is a person's.
    package static func leading(_ summary: String?, _ turns: [SpokenTurn]) -> [SpokenTurn] {
        guard let summary else { return turns }
        let text = "[SUMMARY OF WHAT WAS SAID BEFORE]\n\n\(summary)\n\n[END OF THE SUMMARY]"
        guard let first = turns.first, first.speaker == .user else {
            return [SpokenTurn(.user, text)] + turns
        }
        return [SpokenTurn(.user, [.text(text + "\n\n")] + first.parts).joined] + turns.dropFirst()
    }

    /// What of a reply is kept as the summary; nil: it says nothing.
    package static func kept(of reply: String) -> String? {
        let text = SpokenReply.visible(reply)
        guard text.utf8.count > limit else { return text.isEmpty ? nil : text }
        return String(decoding: Array(text.utf8.prefix(limit)), as: UTF8.self) + "…"
    }
}

extension SpokenTurn {
    /// With its texts as one.
    fileprivate var joined: SpokenTurn {
        var parts: [Part] = []
        for part in self.parts {
            if case .text(let next) = part, case .text(let last)? = parts.last {
                parts[parts.count - 1] = .text(last + next)
            } else {
                parts.append(part)
            }
        }
        return SpokenTurn(speaker, parts)
    }
}

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
