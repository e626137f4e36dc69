import Tracking

/// Text of bots on its way to a server: data, never markup.
enum PlainText {
    /// What a person would read of it, at most `limit` characters.
    static func cleaned(_ text: String, limit: Int) -> String {
        let clean = text.spoken
        return clean.count > limit ? clean.prefix(limit - 1) + "…" : clean
    }

    /// As a server that reads markup shows it unchanged.
    ///
    /// - Source: Desktop Notifications Specification 1.2, "Markup".
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
