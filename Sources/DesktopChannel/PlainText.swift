import Tracking

/// Text of bots on its way to a server: data, never markup.
enum PlainText {
    /// What a person would read of it, at most `limit` characters.
    static func cleaned(_ text: String, limit: Int) -> String {
        let clean = text.spoken
        return clean.count > limit ? clean.prefix(limit - 1) + "…" : clean
    }

    /// A name that a program reads, as of an icon or a sound, without control characters.
    ///
    /// `nil` when nothing is left, or more than `limit` bytes: half a name means something else.
    static func name(_ text: String?, limit: Int) -> String? {
        let clean = printable(text ?? "")
        return clean.isEmpty || clean.utf8.count > limit ? nil : clean
    }

    /// `text` without control characters; a NUL could not be sent at all.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control })
        )
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
