import Grouping
import Tracking

/// Text of bots and jobs on its way to a service: data, in the service's dialect and within its limits.
enum FormText {
    /// What a service counts where it limits a text.
    enum Unit {
        case bytes, utf16, scalars

        func length(of text: String) -> Int {
            switch self {
            case .bytes: text.utf8.count
            case .utf16: text.utf16.count
            case .scalars: text.unicodeScalars.count
            }
        }
    }

    /// How a service is kept from reading text as markup.
    enum Dialect {
        /// It reads none.
        case plain
        /// A backslash before what would format; addresses of web pages stay as they are, as far as that is safe.
        case markdown
        /// The three characters of Slack's mrkdwn that make links and mentions.
        case entities
    }

    /// What a person would read of `text`, at most `limit` units long once it is written in `dialect`.
    ///
    /// A longer text is cut between two characters and ends in `…`, which counts. No character is broken, however many
    /// scalars it has: one that does not fit is left out whole.
    static func fit(
        _ text: String, to limit: Int, in unit: Unit = .utf16, as dialect: Dialect = .plain
    ) -> String {
        var writer = DialectWriter(dialect)
        var (kept, length, whole) = ("", 0, 0)
        let room = limit - unit.length(of: "…")
        let clean = text.spoken
        var rest = clean[...]
        while let character = rest.first {
            let piece = writer.write(character, before: rest)
            length += unit.length(of: piece)
            if length > limit {
                let end = kept.utf8.index(kept.startIndex, offsetBy: whole)
                return limit > 0 ? kept[..<end] + "…" : ""
            }
            kept += piece
            if length <= room { whole = kept.utf8.count }
            rest.removeFirst()
        }
        return kept
    }

    /// The body of a notice in Markdown, at most `limit` units long.
    static func markdown(bodyOf notice: Notice, to limit: Int, in unit: Unit = .utf16) -> String {
        if notice.markup == nil { return fit(notice.body, to: limit, in: unit, as: .markdown) }
        let place = EscapedMarkdownPlace()
        return MarkedText(notice).cut(to: limit) { unit.length(of: place.show($0)) }.text(for: place)
    }

    /// The same with the links of the notice in a line below, as far as the body does not show them, and where that line
    /// has room.
    static func markdown(withLinksOf notice: Notice, to limit: Int) -> String {
        let whole = markdown(bodyOf: notice, to: limit)
        let links = PageLink.markdown(notice.links(besides: whole))
        guard !links.isEmpty, links.utf16.count < limit else { return whole }
        let body = markdown(bodyOf: notice, to: limit - links.utf16.count - 1)
        return body.isEmpty ? links : "\(body)\n\(links)"
    }

    /// `text` as HTML shows it unchanged between two tags, its line breaks too.
    static func html(_ text: String, lineBreak: String = "\n") -> String {
        var html = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\n": html += lineBreak
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}

/// Writes one character after the other so that a service shows it unchanged.
private struct DialectWriter {
    let dialect: FormText.Dialect
    private var isInAddress = false
    private var isAtWordStart = true
    private var isAtLineStart = true

    init(_ dialect: FormText.Dialect) { self.dialect = dialect }

    /// The character as it is written; `rest` begins with it.
    mutating func write(_ character: Character, before rest: Substring) -> String {
        switch dialect {
        case .plain: return String(character)
        case .entities: return FormText.html(String(character))
        case .markdown: return markdown(character, rest)
        }
    }

    private mutating func markdown(_ character: Character, _ rest: Substring) -> String {
        if character.isWhitespace {
            (isInAddress, isAtWordStart) = (false, true)
            if character.isNewline { isAtLineStart = true }
            return String(character)
        }
        if isAtWordStart { isInAddress = rest.hasPrefix("https://") || rest.hasPrefix("http://") }
        let isFirst = isAtLineStart
        (isAtWordStart, isAtLineStart) = (false, false)
        if isInAddress, "_#~-".contains(character) { return String(character) }
        let formats = "\\*_~`|<>[]#".contains(character) || (isFirst && "-+=:".contains(character))
        return formats ? "\\\(character)" : String(character)
    }
}

// How a bulletin or a notice looks where a service shows a colour, an emblem or one line, and what it is known by.

/// What is seen at a glance.
enum Mood {
    case bad, attention, good, plain

    /// Its colour, as `0xRRGGBB`.
    var colour: Int {
        switch self {
        case .bad: 0xD3_2F2F
        case .attention: 0xF9_A825
        case .good: 0x38_8E3C
        case .plain: 0x60_7D8B
        }
    }
}

extension Notice {
    /// What is seen of it at a glance: what happened to a job, or how urgent a message is.
    var mood: Mood {
        switch news {
        case .failed, .lost: .bad
        case .blocked, .missed: .attention
        case .completed, .recovered: .good
        case .started, .progress, .canceled, .skipped: .plain
        case nil: urgency == .critical ? .attention : .plain
        }
    }
}

/// Sixteen digits that stand for a text.
enum ShortCode {
    /// The digits.
    ///
    /// - Source: FNV-1a, 64 bits.
    static func of(_ text: String) -> String {
        var code: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { code = (code ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(code, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Bulletin {
    /// What is seen of it at a glance.
    var mood: Mood {
        switch standing {
        case .wrong: .bad
        case .over: .good
        case .word: notice.urgency == .critical || isWaiting ? .attention : .plain
        }
    }

    private var isWaiting: Bool {
        [.runBlocked, .runMissed, .clockBack, .questionAsked].contains(EventType(rawValue: matter.type))
    }

    /// The colour as `#rrggbb`.
    var colourCode: String {
        let digits = String(mood.colour, radix: 16)
        return "#" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The short code of an emoji.
    var emblem: String {
        switch mood {
        case .bad: "rotating_light"
        case .attention: "warning"
        case .good: "white_check_mark"
        case .plain: "bell"
        }
    }

    /// The title, and the text after it where there is any, on one line.
    var headline: String {
        let lines = notice.plainBody.split(whereSeparator: \.isNewline)
        let text = Preview.cut(lines.joined(separator: " · "), to: 300)
        return text.isEmpty ? notice.title : "\(notice.title): \(text)"
    }

    /// The same for all that is sent of one run or one thread, so that the newest replaces the others: letters and digits.
    var sequence: String {
        let run = object("run")?["id"]?.text ?? ""
        return "belfry-" + ShortCode.of("\(notice.tag) \(run)")
    }
}
