/// A line `NAME = VALUE` of a crontab.
///
/// - Source: load_env of Debian's cron: name and value may stand in quotes, blanks at the end of a value
///   without quotes are dropped, nothing is expanded.
struct CrontabSetting: Hashable {
    let name: String
    let value: String

    /// The setting that `line` is; `nil` when it has not that shape.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        guard let name = Self.word(&rest, until: { $0 == 0x3D || $0 == 0x20 || $0 == 0x09 }), !name.isEmpty
        else { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        let isQuoted = rest.first == 0x22 || rest.first == 0x27
        guard var value = Self.word(&rest, until: { _ in false }) else { return nil }
        if isQuoted {
            guard rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return nil }
        } else {
            while value.last == 0x20 || value.last == 0x09 { value.removeLast() }
        }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
    }

    /// A word in quotes, or up to where `isEnd` says; `nil` when a quote is not closed.
    private static func word(
        _ rest: inout ArraySlice<UInt8>, until isEnd: (UInt8) -> Bool
    ) -> ArraySlice<UInt8>? {
        guard let quote = rest.first, quote == 0x22 || quote == 0x27 else {
            let word = rest.prefix { !isEnd($0) }
            rest = rest[word.endIndex...]
            return word
        }
        rest.removeFirst()
        guard let end = rest.firstIndex(of: quote) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }
}
