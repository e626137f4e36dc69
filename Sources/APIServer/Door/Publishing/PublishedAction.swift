import API
import Tracking

/// A button of a published message.
///
/// - Source: docs.ntfy.sh/publish, "Action buttons".
struct PublishedAction: Hashable, Sendable {
    /// What it says.
    var label: String
    /// The address it opens; nil: it does something else, which nobody here can.
    var url: String?

    private static let most = 3

    /// Reads `view, Open, https://example.org; http, Close, https://...`, or the same as JSON.
    static func list(_ text: String) throws(APIError) -> [PublishedAction] {
        if text.first == "[" {
            guard let json = JSON(parsing: Array(text.utf8)[...]) else {
                throw APIError(.badValue, "the actions are not JSON")
            }
            return try list(json: json)
        }
        return try checked(
            parts(text, at: ";").map { action throws(APIError) in
                var values: [String: String] = [:]
                var order = ["action", "label", "url"][...]
                for part in parts(action, at: ",") {
                    if let equals = part.firstIndex(of: "="), part[..<equals].allSatisfy(\.isLetter) {
                        values[part[..<equals].lowercased()] = unquoted(part[part.index(after: equals)...])
                    } else if let name = order.popFirst() {
                        values[name] = unquoted(part[...])
                    }
                }
                return try make(values["action"], values["label"], values["url"])
            })
    }

    /// Reads `[{"action":"view","label":"Open","url":"https://example.org"}]`.
    static func list(json: JSON) throws(APIError) -> [PublishedAction] {
        try checked(
            json.elements.map { action throws(APIError) in
                try make(action["action"]?.text, action["label"]?.text, action["url"]?.text)
            })
    }

    private static func make(
        _ kind: String?, _ label: String?, _ url: String?
    ) throws(APIError) -> PublishedAction {
        guard let kind, ["view", "http", "broadcast", "copy"].contains(kind) else {
            throw APIError(
                .badValue, "no action \(Quoted.of(kind ?? ""))", hint: "It is view, http, broadcast or copy.")
        }
        guard let label, !label.isEmpty else { throw APIError(.badValue, "an action has no label") }
        return PublishedAction(label: label, url: kind == "view" ? url : nil)
    }

    private static func checked(_ actions: [PublishedAction]) throws(APIError) -> [PublishedAction] {
        guard actions.count <= most else {
            throw APIError(.badValue, "a message has at most \(most) actions")
        }
        return actions
    }

    /// Parts between separators that stand outside of quotes, without blanks around them.
    private static func parts(_ text: String, at separator: Character) -> [String] {
        var (parts, part, quote) = ([String](), "", Character?.none)
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == separator {
                parts.append(part)
                part = ""
                continue
            }
            part.append(character)
        }
        parts.append(part)
        return parts.map {
            String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        .filter { !$0.isEmpty }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count > 1, let first = text.first, first == "\"" || first == "'", text.last == first else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }
}

/// The tags that ntfy shows as an emblem; others are words.
enum TagEmblems {
    private static let emblems = [
        "warning": "⚠️", "rotating_light": "🚨", "triangular_flag_on_post": "🚩", "skull": "💀", "facepalm": "🤦",
        "no_entry": "⛔", "no_entry_sign": "🚫", "cd": "💿", "computer": "💻", "loudspeaker": "📢", "+1": "👍",
        "partying_face": "🥳", "tada": "🎉", "heavy_check_mark": "✔️", "white_check_mark": "✅", "x": "❌",
        "-1": "👎", "fire": "🔥", "bell": "🔔", "hourglass": "⌛", "rocket": "🚀", "bug": "🐛", "package": "📦",
        "floppy_disk": "💾", "lock": "🔒", "key": "🔑", "heart": "❤️", "moneybag": "💰", "email": "📧",
        "arrow_up": "⬆️", "arrow_down": "⬇️", "zap": "⚡", "information_source": "ℹ️", "question": "❓",
        "exclamation": "❗", "broken_heart": "💔", "green_circle": "🟢", "red_circle": "🔴",
        "yellow_circle": "🟡", "eyes": "👀", "robot": "🤖", "wastebasket": "🗑️", "house": "🏠", "car": "🚗",
    ]

    /// The emblems, each with a blank behind it, and the words that are none.
    static func split(_ tags: [String]) -> (emblems: String, words: [String]) {
        let found = tags.compactMap { emblems[$0] }
        return (found.map { $0 + " " }.joined(), tags.filter { emblems[$0] == nil })
    }
}

/// Text of a header field that may hold encoded words.
///
/// - Source: RFC 2047, of which ntfy decodes words in UTF-8.
enum HeaderWords {
    /// `=?UTF-8?B?w7w=?=` as the text it stands for; any other text as it is.
    static func decoded(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word(String($0)) ?? String($0) }
            .joined(separator: " ")
    }

    private static func word(_ text: String) -> String? {
        guard text.hasPrefix("=?"), text.hasSuffix("?=") else { return nil }
        let parts = text.dropFirst(2).dropLast(2).split(
            separator: "?", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        switch parts[1].lowercased() {
        case "b": return Base64.decode(String(parts[2])).flatMap { String(validating: $0, as: UTF8.self) }
        case "q":
            let escaped = parts[2].replacing("%", with: "=25").replacing("=", with: "%")
            return PercentCoding.decode(escaped.replacing("_", with: " "))
        default: return nil
        }
    }
}
