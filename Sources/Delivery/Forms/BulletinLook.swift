import Grouping
import Tracking

// How a bulletin looks where a service shows a colour, an emblem or one line, and what it is known by.

extension Bulletin {
    /// What is seen of it at a glance.
    enum Mood {
        case bad, attention, good, plain
    }

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

    /// The colour of its mood, as `0xRRGGBB`.
    var colour: Int {
        switch mood {
        case .bad: 0xD3_2F2F
        case .attention: 0xF9_A825
        case .good: 0x38_8E3C
        case .plain: 0x60_7D8B
        }
    }

    /// The colour as `#rrggbb`.
    var colourCode: String {
        let digits = String(colour, radix: 16)
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
        let lines = notice.body.split(whereSeparator: \.isNewline)
        let text = Preview.cut(lines.joined(separator: " · "), to: 300)
        return text.isEmpty ? notice.title : "\(notice.title): \(text)"
    }

    /// The same for all that is sent of one run or one thread, so that the newest replaces the others: letters and digits.
    var sequence: String {
        let run = object("run")?["id"]?.text ?? ""
        return "belfry-" + Self.code(of: "\(notice.tag) \(run)")
    }

    /// Sixteen digits that stand for a text.
    ///
    /// - Source: FNV-1a, 64 bits.
    private static func code(of text: String) -> String {
        var code: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { code = (code ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(code, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
