/// Text of bots on its way to a server: data, never markup.
enum PlainText {
    /// Without control characters, apart from line ends; at most `limit` characters.
    static func cleaned(_ text: String, limit: Int) -> String {
        var clean = ""
        clean.unicodeScalars.append(
            contentsOf: text.unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }
        )
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
