/// The bots that a text mentions, as `@name`.
package enum Mentions {
    /// Their names among `known`, each once, in the order in which they stand.
    ///
    /// The case of letters plays no part; an address such as `me@sage` mentions nobody.
    package static func names(in text: String, among known: Set<String>) -> [String] {
        var (names, rest) = ([String](), text[...])
        var before: Character = " "
        while let at = rest.firstIndex(of: "@") {
            if at > rest.startIndex { before = rest[rest.index(before: at)] }
            let word = rest[rest.index(after: at)...].prefix { isOfName($0) }
            rest = rest[word.endIndex...]
            defer { before = word.last ?? "@" }
            guard !isOfName(before), before != "@" else { continue }
            var name = word.lowercased()
            // A full stop behind a name ends a sentence.
            while !known.contains(name), let last = name.last, ".-_".contains(last) { name.removeLast() }
            if known.contains(name), !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || "._-".contains(character)
    }
}
