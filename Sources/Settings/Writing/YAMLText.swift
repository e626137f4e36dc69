/// Texts as YAML that every reader takes for the same texts, never for numbers, truths or times.
///
/// The one exception is a mark of the encoding (U+FEFF) at the beginning of a text, which the parser drops.
enum YAMLText {
    /// On one line: as it is where that is safe, else in double quotes.
    static func scalar(_ text: String) -> String { isPlain(text) || isDuration(text) ? text : quoted(text) }

    /// A key of a map; one too long for YAML's simple form is marked as a key.
    static func key(_ text: String) -> String {
        let written = scalar(text)
        return written.utf8.count > longestSimpleKey ? "? \(written)\n" : written
    }

    /// The value behind a key or a dash: several lines as a block that is indented by `indent`, where YAML can hold it.
    static func value(_ text: String, indent: Int) -> String {
        guard isBlock(text) else { return scalar(text) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let blank = String(repeating: " ", count: indent)
        var mark = "|-"
        var written = lines[...]
        if text.hasSuffix("\n") {
            written.removeLast()
            mark = text.hasSuffix("\n\n") ? "|+" : "|"
        }
        return mark + written.map { $0.isEmpty ? "\n" : "\n\(blank)\($0)" }.joined()
    }

    /// Whether the text is better read as several lines.
    static func isBlock(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !"\n \t".unicodeScalars.contains(first),
            text.unicodeScalars.contains("\n")
        else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !needsEscape($0) }
    }

    /// YAML's limit is 1024 characters.
    private static let longestSimpleKey = 1000

    /// Words that some readers take for a truth or for nothing.
    private static let words: Set<String> = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]

    private static func isPlain(_ text: String) -> Bool {
        let rest = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard text.utf8.count - rest.count <= 2, let first = rest.first,
            isLetter(first) || first == UInt8(ascii: "/"),
            !words.contains(text.lowercased())
        else { return false }
        return rest.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_./@%+=-".utf8.contains($0) }
    }

    /// `90s`, `1h30m`: no reader takes that for a number.
    private static func isDuration(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x30...0x39).contains(first), let last = text.utf8.last else {
            return false
        }
        return isLetter(last)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "wdhmsu".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func quoted(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": written += "\\\""
            case "\\": written += "\\\\"
            case "\n": written += "\\n"
            case "\t": written += "\\t"
            case _ where needsEscape(scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                written += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }

    /// What YAML does not let stand in a file, or takes for a line end or a mark of the encoding.
    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: true
        default: false
        }
    }
}
