package import Timeline

/// One thing said in a thread, as a conversation is made of it.
package struct ThreadLine: Hashable, Sendable {
    /// A message that another one replies to.
    package struct Quote: Hashable, Sendable {
        /// The message's id.
        package var id: String
        /// Who said it; nil: not known any more.
        package var sender: String?
        /// What was said; nil: not known any more.
        package var text: String?

        /// A quote of which only the id is known, unless more is given.
        package init(id: String, sender: String? = nil, text: String? = nil) {
            self.id = id
            self.sender = sender
            self.text = text
        }
    }

    /// A file that came with it.
    package struct File: Hashable, Sendable {
        /// The file's name.
        package var name: String
        /// How many bytes it holds.
        package var bytes: Int
        /// What it says; nil: it is no text.
        package var text: String?

        /// A file; no text unless given.
        package init(name: String, bytes: Int, text: String? = nil) {
            self.name = name
            self.bytes = bytes
            self.text = text
        }
    }

    /// Who said it: a person's name; nil for the bot.
    package var sender: String?
    /// When it was sent.
    package var at: Moment
    /// What was said.
    package var text: String
    /// What it replies to.
    package var quote: Quote?
    /// What came with it.
    package var file: File?
    /// Of a person's message the run that was to answer it, of the bot's the run that said it.
    package var run: String?
    /// The row of its message; later ones have higher ones.
    package var number: Int64 = 0

    /// A line of a person with this name, or of the bot with none.
    package init(
        _ sender: String?, at: Moment, _ text: String, quote: Quote? = nil, file: File? = nil,
        run: String? = nil
    ) {
        self.sender = sender
        self.at = at
        self.text = text
        self.quote = quote
        self.file = file
        self.run = run
    }
}

/// A thread as the turns of a prompt.
///
/// What people said between two replies is one turn, in the same bytes each time, so that a provider's cache knows it.
package struct Conversation: Sendable {
    /// The most turns before the one that is asked.
    package static let turnLimit = 60
    /// The most bytes of all turns before the one that is asked, where nobody knows how much the model reads.
    package static let byteLimit = 128 * 1024

    /// The zone that times are shown in.
    package var zone: ZoneRules
    /// The most bytes of all turns before the one that is asked.
    let limit: Int

    /// Conversations whose times are shown in `zone`.
    package init(zone: ZoneRules, limit: Int = Self.byteLimit) {
        self.zone = zone
        self.limit = limit
    }

    /// The turns of what was said `before`, oldest first, and as the last one what is `asked` now.
    ///
    /// The oldest turns are left out where there are more than ``turnLimit``, or more bytes than the limit; the
    /// `reactions` stand at the end of the last turn, a line each.
    package func turns(before: [ThreadLine], asked: [ThreadLine], reactions: [String] = []) -> [SpokenTurn] {
        var turns = earlier(before)
        let now = PromptXML.text(of: asked, zone: zone)
        turns.append(.user, ([now] + reactions).joined(separator: "\n"))
        return turns.list.map { SpokenTurn($0.speaker, $0.text) }
    }

    /// The turns of what was said `before` alone, oldest first, within the same bounds.
    package func turns(before: [ThreadLine]) -> [SpokenTurn] {
        earlier(before).list.map { SpokenTurn($0.speaker, $0.text) }
    }

    /// Turns in which the two sides alternate.
    private struct Turns {
        var list: [(speaker: SpokenTurn.Speaker, text: String)] = []

        mutating func append(_ speaker: SpokenTurn.Speaker, _ text: String) {
            if list.last?.speaker == speaker {
                list[list.count - 1].text += "\n\n" + text
            } else {
                list.append((speaker, text))
            }
        }
    }

    private func earlier(_ before: [ThreadLine]) -> Turns {
        var turns = Turns()
        var open: [ThreadLine] = []
        for line in before {
            guard line.sender == nil else {
                open.append(line)
                continue
            }
            // What was said while the bot was writing belongs to its next reply.
            let answered = open.filter { $0.run == line.run || line.run == nil }
            open.removeAll { $0.run == line.run || line.run == nil }
            if !answered.isEmpty {
                turns.append(.user, PromptXML.text(of: answered, zone: zone))
            } else if turns.list.last?.speaker != .assistant {
                turns.append(.user, "[MESSAGE OF THE BOT]")
            }
            turns.append(.assistant, line.text)
        }
        if !open.isEmpty { turns.append(.user, PromptXML.text(of: open, zone: zone)) }
        bound(&turns.list)
        return turns
    }

    /// Leaves out the oldest turns; the first one left is a person's.
    private func bound(_ turns: inout [(speaker: SpokenTurn.Speaker, text: String)]) {
        var bytes = turns.reduce(0) { $0 + $1.text.utf8.count }
        var first = 0
        while first < turns.count {
            let isWithin = turns.count - first <= Self.turnLimit && bytes <= limit
            if isWithin, turns[first].speaker == .user { break }
            bytes -= turns[first].text.utf8.count
            first += 1
        }
        turns.removeFirst(first)
    }
}

/// What people said, as XML for a model.
///
/// - Source: nanoclaw 1.2.46 and later, router.ts; see agents.md 1.7.
package enum PromptXML {
    /// The lines in their order, with a header that names the zone of their times; no line feed at the end.
    package static func text(of lines: [ThreadLine], zone: ZoneRules) -> String {
        let rows = lines.map { row($0, zone) }.joined(separator: "\n")
        return "<context timezone=\"\(escaped(zone.name))\" />\n<messages>\n\(rows)\n</messages>"
    }

    /// A reaction of a person, as a line.
    package static func reaction(_ word: String, to text: String) -> String {
        "[USER_REACTION: \(word)] to: \(text)"
    }

    /// The text with `&`, `<`, `>` and `"` as entities.
    package static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func row(_ line: ThreadLine, _ zone: ZoneRules) -> String {
        var row = "<message sender=\"\(escaped(line.sender ?? ""))\" time=\"\(time(line.at, zone))\""
        if let quote = line.quote { row += " reply_to=\"\(escaped(quote.id))\"" }
        row += ">"
        if let quote = line.quote, let sender = quote.sender, let text = quote.text {
            row += "\n  <quoted_message from=\"\(escaped(sender))\">\(escaped(text))</quoted_message>"
        }
        row += escaped(line.text)
        if let file = line.file {
            row += "\n  <attachment name=\"\(escaped(file.name))\" bytes=\"\(file.bytes)\""
            row += file.text.map { ">\(escaped($0))</attachment>" } ?? " />"
        }
        return row + "</message>"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A time as `Jan 1, 2024, 1:30 PM`.
    static func time(_ moment: Moment, _ zone: ZoneRules) -> String {
        let time = CivilTime(moment, in: zone)
        let (hour, minute) = (time.hour % 12 == 0 ? 12 : time.hour % 12, time.minute)
        let day = "\(months[time.date.month - 1]) \(time.date.day), \(time.date.year)"
        return "\(day), \(hour):\(minute < 10 ? "0" : "")\(minute) \(time.hour < 12 ? "AM" : "PM")"
    }
}

/// What of a reply is for people.
package enum SpokenReply {
    /// The reply without its `<internal>` parts, and without white space around it; empty: there is nothing to say.
    ///
    /// A part that is not closed goes to the end of the reply.
    package static func visible(_ reply: String) -> String {
        var (rest, visible) = (reply[...], "")
        // By bytes: a reply can be long, and letters cost a hundred times as much.
        while let start = rest.utf8.firstRange(of: "<internal>".utf8) {
            visible += rest[..<start.lowerBound]
            guard let end = rest.utf8[start.upperBound...].firstRange(of: "</internal>".utf8) else {
                rest = ""
                break
            }
            rest = rest[end.upperBound...]
        }
        visible += rest
        var inner = visible.drop { $0.isWhitespace }
        while inner.last?.isWhitespace == true { inner.removeLast() }
        return String(inner)
    }
}

/// The bots that a text mentions, as `@name`.
package enum Mentions {
    /// Their names among `known`, each once, in the order in which they stand.
    ///
    /// The case of letters plays no part; an address such as `me@sage` mentions nobody.
    package static func names(in text: String, among known: Set<String>) -> [String] {
        var (names, rest) = ([String](), text[...])
        var before: Character = " "
        while let at = rest.firstIndex(of: "@") {
            if at > rest.startIndex { before = rest[rest.index(before: at)] }
            let word = rest[rest.index(after: at)...].prefix { isOfName($0) }
            rest = rest[word.endIndex...]
            defer { before = word.last ?? "@" }
            guard !isOfName(before), before != "@" else { continue }
            var name = word.lowercased()
            // A full stop behind a name ends a sentence.
            while !known.contains(name), let last = name.last, ".-_".contains(last) { name.removeLast() }
            if known.contains(name), !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || "._-".contains(character)
    }
}
