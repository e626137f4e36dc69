import Grouping
import Tracking

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
