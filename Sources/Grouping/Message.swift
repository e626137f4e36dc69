public import Timeline
import Tracking

/// A message in a thread of a bot.
public struct Message: Hashable, Codable, Sendable {
    /// Unique among all messages.
    public var id: String
    /// The bot's name.
    public var bot: String
    /// The thread's name within the bot.
    public var thread: String
    /// Who wrote it.
    public var author: Author
    /// The text, as it came; it is cut and cleaned where it is shown.
    public var text: String
    /// When it was written.
    public var at: Moment
    /// How much it may disturb.
    public var urgency: Urgency
    /// A heading in place of the bot's name.
    public var title: String?
    /// How it should look.
    public var appearance: Appearance
    /// Takes the place of the unread message of the same key, instead of being one more.
    public var replaceKey: String?
    /// The run that wrote it, as `JOB#N`.
    public var run: String?

    /// A message.
    public init(
        id: String, bot: String, thread: String, author: Author = .bot, text: String, at: Moment,
        urgency: Urgency = .normal, title: String? = nil, appearance: Appearance = Appearance(),
        replaceKey: String? = nil, run: String? = nil
    ) {
        self.id = id
        self.bot = bot
        self.thread = thread
        self.author = author
        self.text = text
        self.at = at
        self.urgency = urgency
        self.title = title
        self.appearance = appearance
        self.replaceKey = replaceKey
        self.run = run
    }

    /// The item this message belongs to.
    public var itemKey: ItemKey { .thread(bot: bot, thread: thread) }
}

// What most messages have is left out: an item keeps its last messages, and is written with each new one.

extension Message {
    private enum CodingKeys: CodingKey {
        case id, bot, thread, author, text, at, urgency, title, appearance, replaceKey, run
    }

    /// Reads a message; what is left out is as it is unless said otherwise.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            bot: try container.decode(String.self, forKey: .bot),
            thread: try container.decode(String.self, forKey: .thread),
            author: try container.decodeIfPresent(Author.self, forKey: .author) ?? .bot,
            text: try container.decode(String.self, forKey: .text),
            at: try container.decode(Moment.self, forKey: .at),
            urgency: try container.decodeIfPresent(Urgency.self, forKey: .urgency) ?? .normal,
            title: try container.decodeIfPresent(String.self, forKey: .title),
            appearance: try container.decodeIfPresent(Appearance.self, forKey: .appearance) ?? Appearance(),
            replaceKey: try container.decodeIfPresent(String.self, forKey: .replaceKey),
            run: try container.decodeIfPresent(String.self, forKey: .run))
    }

    /// Writes a message without what it shares with most.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(bot, forKey: .bot)
        try container.encode(thread, forKey: .thread)
        if author != .bot { try container.encode(author, forKey: .author) }
        try container.encode(text, forKey: .text)
        try container.encode(at, forKey: .at)
        if urgency != .normal { try container.encode(urgency, forKey: .urgency) }
        if let title { try container.encode(title, forKey: .title) }
        if appearance != Appearance() { try container.encode(appearance, forKey: .appearance) }
        if let replaceKey { try container.encode(replaceKey, forKey: .replaceKey) }
        if let run { try container.encode(run, forKey: .run) }
    }
}

/// The author of a message.
public enum Author: String, Hashable, Codable, Sendable, CaseIterable {
    /// The bot, or a script in its name.
    case bot
    /// A person; their messages are never unread.
    case user
}

/// How much a notice may disturb, from `low` to `critical`.
public enum Urgency: String, Hashable, Codable, Sendable, CaseIterable, Comparable {
    /// Listed, never rings.
    case low
    /// Rings once; the default.
    case normal
    /// Sent without waiting, and stays on the screen until a person closes it.
    case critical

    /// Less disturbing urgencies are smaller.
    public static func < (left: Urgency, right: Urgency) -> Bool { left.level < right.level }

    /// 0, 1 or 2: the byte of the desktop's `urgency` hint.
    public var level: UInt8 {
        switch self {
        case .low: 0
        case .normal: 1
        case .critical: 2
        }
    }
}

/// How a message should look and sound; a channel uses what it can.
public struct Appearance: Hashable, Codable, Sendable {
    /// An icon name or an absolute path.
    public var icon: String?
    /// A name of the sound naming specification, as `message-new-instant`.
    public var soundName: String?
    /// A category of the desktop specification, as `im.received`.
    public var category: String?
    /// How long it stays on the screen; absent lets the server decide, zero keeps it until closed.
    public var expireAfter: Duration?
    /// The pages that it leads to, as buttons where a channel has those; absent: none.
    public var links: [PageLink]?

    /// An appearance; everything absent is left to the bot's settings and the channel.
    public init(
        icon: String? = nil, soundName: String? = nil, category: String? = nil, expireAfter: Duration? = nil,
        links: [PageLink]? = nil
    ) {
        self.icon = icon
        self.soundName = soundName
        self.category = category
        self.expireAfter = expireAfter
        self.links = links
    }
}

/// A page that a message, or a notice, leads to.
public struct PageLink: Hashable, Codable, Sendable {
    /// The text of the button or the link.
    public var label: String
    /// The whole address, http or https.
    public var url: String

    /// A link.
    public init(label: String, url: String) { (self.label, self.url) = (label, url) }
}

/// What is shown of a text: one clean line, or a few.
public enum Preview {
    /// `text` on one line, at most `limit` characters long, cut at the end of a word where one is near, else between two
    /// characters.
    ///
    /// Runs of white space become one space; terminal sequences, control characters and the marks that turn
    /// the direction of the text after them go. A cut line ends in `…`, which counts. A character may be
    /// long (a family is seven scalars), yet the line never exceeds 16 bytes times `limit`, or 64, so
    /// that a heap of accents can't swell it.
    ///
    /// - Complexity: O(`limit`), white space and control characters that are dropped not counted.
    public static func cut(_ text: String, to limit: Int = 100) -> String {
        guard limit > 0 else { return "" }
        if text.utf8.count <= limit, isLine(text) { return text }
        let (line, isWhole) = fold(text, bytes: max(64, limit * 16))
        let end = line.index(line.startIndex, offsetBy: limit, limitedBy: line.endIndex)
        if isWhole, (end ?? line.endIndex) == line.endIndex { return line }
        // The last character of a line that was broken off may be half of one: it goes as well.
        return words(of: isWhole ? line : String(line.dropLast()), to: limit - 1) + "…"
    }

    /// Whether nothing of the text can be shown.
    public static func isEmpty(_ text: String) -> Bool {
        isLine(text) ? text.isEmpty : cut(text, to: 1).isEmpty
    }

    /// Whether the text is one line of visible ASCII already, its words one space apart.
    private static func isLine(_ text: String) -> Bool {
        var previous: UInt8 = 0x20
        for byte in text.utf8 {
            guard (0x21...0x7E).contains(byte) || (byte == 0x20 && previous != 0x20) else { return false }
            previous = byte
        }
        return previous != 0x20 || text.isEmpty
    }

    /// The folded line, and whether it holds all of the text; stops soon after `bytes`.
    private static func fold(_ text: String, bytes: Int) -> (line: String, isWhole: Bool) {
        var line = ""
        var hasGap = false
        for scalar in SpokenScalars(text) {
            if scalar.properties.isWhitespace {
                hasGap = !line.isEmpty
            } else {
                let length = UTF8.width(scalar) + (hasGap ? 1 : 0)
                if line.utf8.count + length > bytes { return (line, false) }
                if hasGap { line.unicodeScalars.append(" ") }
                hasGap = false
                line.unicodeScalars.append(scalar)
            }
        }
        return (line, true)
    }
}

extension Preview {
    /// `text` with its line breaks, at most `limit` characters long, cut at a word.
    ///
    /// What ``cut(_:to:)`` drops is dropped here, but up to 20 spaces in a row stay, so that columns and indentation do;
    /// a tab is one space. Empty lines in a row become one, and none stand at the ends. A cut text ends in `…`, which
    /// counts. One line is kept for each 20 characters of `limit`, at least four. The limit of bytes is that of
    /// ``cut(_:to:)``.
    ///
    /// - Complexity: O(`limit`), white space and control characters that are dropped not counted.
    public static func shape(_ text: String, to limit: Int) -> String {
        guard limit > 0 else { return "" }
        if text.utf8.count <= limit, isLine(text) { return text }
        let (shaped, isWhole) = layOut(text, bytes: max(64, limit * 16), lines: max(4, limit / 20))
        let end = shaped.index(shaped.startIndex, offsetBy: limit, limitedBy: shaped.endIndex)
        if isWhole, (end ?? shaped.endIndex) == shaped.endIndex { return shaped }
        return words(of: shaped, to: limit - 1) + "…"
    }

    private static let longestGap = 20

    /// The first `limit` characters without a broken word at the end, unless the word is half of them.
    private static func words(of text: String, to limit: Int) -> Substring {
        let part = text.prefix(limit)
        var kept = part
        if part.endIndex < text.endIndex, !text[part.endIndex].isWhitespace,
            let gap = part.lastIndex(where: \.isWhitespace),
            part.distance(from: part.startIndex, to: gap) >= limit / 2
        {
            kept = part[..<gap]
        }
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return kept
    }

    /// The clean lines, and whether they hold all of the text; stops soon after `bytes` or `lines`.
    private static func layOut(_ text: String, bytes: Int, lines: Int) -> (text: String, isWhole: Bool) {
        var (shaped, spaces, breaks, count) = ("", 0, 0, 1)
        for scalar in SpokenScalars(text) {
            if scalar == "\n" || scalar == "\u{2028}" || scalar == "\u{2029}" {
                (breaks, spaces) = (breaks + 1, 0)
            } else if scalar.properties.isWhitespace {
                spaces += 1
            } else {
                breaks = shaped.isEmpty ? 0 : min(breaks, 2)
                spaces = min(spaces, longestGap)
                count += breaks
                if count > lines { return (shaped, false) }
                if shaped.utf8.count + breaks + spaces + UTF8.width(scalar) > bytes {
                    // Its last character may be half of one.
                    return (String(shaped.dropLast()), false)
                }
                shaped += String(repeating: "\n", count: breaks) + String(repeating: " ", count: spaces)
                shaped.unicodeScalars.append(scalar)
                (breaks, spaces) = (0, 0)
            }
        }
        return (shaped, true)
    }
}
