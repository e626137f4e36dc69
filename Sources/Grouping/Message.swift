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

    /// An appearance; everything absent is left to the bot's settings and the channel.
    public init(
        icon: String? = nil, soundName: String? = nil, category: String? = nil, expireAfter: Duration? = nil
    ) {
        self.icon = icon
        self.soundName = soundName
        self.category = category
        self.expireAfter = expireAfter
    }
}

/// A text as one clean line.
public enum Preview {
    /// `text` on one line, at most `limit` characters long, cut between two of them.
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
        let kept = (isWhole ? line[...] : line.dropLast()).prefix(limit - 1)
        return kept + "…"
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
