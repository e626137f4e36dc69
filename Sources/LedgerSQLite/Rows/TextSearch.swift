import GRDB

/// Looking for text inside text, case ignored in every script; SQLite itself knows only the letters a to z.
enum TextSearch {
    /// The name of the SQL function: `belfry_holds(text, folded needle)`.
    static let name = "belfry_holds"

    /// `text` without the difference of case.
    static func folded(_ text: String) -> String { text.lowercased() }

    static let function = DatabaseFunction(name, argumentCount: 2, pure: true) { values in
        guard let text = String.fromDatabaseValue(values[0]), let needle = String.fromDatabaseValue(values[1])
        else { return false }
        return needle.isEmpty || folded(text).contains(needle)
    }
}
