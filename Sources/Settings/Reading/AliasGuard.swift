/// Finds texts whose aliases would keep the YAML parser busy for ever.
///
/// The parser compares the keys of a map. A key that is a collection is compared with all it holds, and
/// through aliases of aliases that can be billions of elements. Values are bounded where they are read.
enum AliasGuard {
    /// So few aliases can't name very much, however they are nested.
    private static let harmlessAliases = 16

    /// The fault of a text with many aliases and a key that is no plain text.
    static func fault(in source: SourceText) -> Problem? {
        guard source.text.utf8.contains(UInt8(ascii: "&")), source.text.utf8.contains(UInt8(ascii: "*"))
        else {
            return nil
        }
        var anchors: Set<String> = []
        var aliases: [String] = []
        var key: (line: Int, column: Int)?
        for (number, line) in source.lines.enumerated() {
            let scalars = Array(line.unicodeScalars)
            for (index, scalar) in scalars.enumerated() {
                if scalar == "&" { anchors.insert(name(scalars, index + 1)) }
                if scalar == "*" { aliases.append(name(scalars, index + 1)) }
                if key == nil, isCollectionKey(scalars, index) { key = (number, index) }
            }
        }
        guard let key, aliases.count(where: { !$0.isEmpty && anchors.contains($0) }) > harmlessAliases else {
            return nil
        }
        return source.problem(
            line: key.line + 1, column: key.column + 1,
            "aliases and a key that is no plain text don't go together in one file",
            hint: "write the key out")
    }

    private static func name(_ line: [Unicode.Scalar], _ start: Int) -> String {
        let letters = line[min(start, line.count)...].prefix {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-"
        }
        return String(String.UnicodeScalarView(letters))
    }

    /// Whether a key that may be a collection begins or ends here.
    private static func isCollectionKey(_ line: [Unicode.Scalar], _ index: Int) -> Bool {
        switch line[index] {
        case "*": isKey(line, index + 1 + name(line, index + 1).unicodeScalars.count)
        case "]", "}": isKey(line, index + 1)
        case "?": begins(line, index + 1, ["[", "{", "*", "&", "!", " "])
        case "{": begins(line, index + 1, ["[", "{", "*"])
        default: false
        }
    }

    /// Whether a colon follows after blanks.
    private static func isKey(_ line: [Unicode.Scalar], _ start: Int) -> Bool {
        rest(line, start).first == ":"
    }

    /// Whether one of `scalars` follows after blanks, or the line ends.
    private static func begins(_ line: [Unicode.Scalar], _ start: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        if scalars.contains(" "), line.indices.contains(start), line[start] == " " { return true }
        return rest(line, start).first.map(scalars.contains) ?? true
    }

    private static func rest(_ line: [Unicode.Scalar], _ start: Int) -> ArraySlice<Unicode.Scalar> {
        line[min(start, line.count)...].drop { $0 == " " || $0 == "\t" }
    }
}
