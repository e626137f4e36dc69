/// The command line of a unit's `ExecStart`, as far as it can be run without systemd.
///
/// - Source: systemd.service(5), "Command Lines".
struct SystemdCommand {
    private(set) var words: [String] = []
    /// Why it can't be run as it stands; nil when it can.
    private(set) var problem: String?

    /// Splits `text`, quotes and escapes resolved; `home` stands for `%h`.
    init(_ text: String, home: String?) {
        var rest = Array(text)[...]
        while let first = rest.first, "@-:+!".contains(first) {
            rest.removeFirst()
            if first == ":" { continue }
            problem = "the prefix \"\(first)\" of its command is not supported"
        }
        var word: String?
        var quote: Character?
        while let character = rest.popFirst() {
            switch character {
            case "'", "\"":
                if quote == nil {
                    (quote, word) = (character, word ?? "")
                } else if quote == character {
                    quote = nil
                } else {
                    word = (word ?? "") + String(character)
                }
            case " ",
                "\t" where quote == nil:
                if quote != nil { word?.append(character) } else { finish(&word) }
            case "\\": word = (word ?? "") + String(escape(rest.popFirst()))
            case "%": word = (word ?? "") + specifier(rest.popFirst(), home)
            case "$": word = (word ?? "") + dollar(&rest)
            default: word = (word ?? "") + String(character)
            }
        }
        if quote != nil { problem = "a quote of its command is not closed" }
        finish(&word)
        if words.contains(";") { problem = "it has several commands" }
        if words.isEmpty { problem = "it has no command" }
    }

    /// The word ends here; nil: none has begun.
    private mutating func finish(_ word: inout String?) {
        if let word { words.append(word) }
        word = nil
    }

    /// The second of two is dropped.
    private mutating func dollar(_ rest: inout ArraySlice<Character>) -> String {
        if rest.first == "$" {
            rest.removeFirst()
        } else {
            problem = "systemd would expand a $ in its command"
        }
        return "$"
    }

    private mutating func escape(_ character: Character?) -> Character {
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "s": return " "
        case let character? where "\\\"'; ".contains(character): return character
        default:
            problem = "an escape sequence in its command is not supported"
            return "\\"
        }
    }

    private mutating func specifier(_ character: Character?, _ home: String?) -> String {
        if character == "%" { return "%" }
        if character == "h", let home { return home }
        problem = "%\(character.map(String.init) ?? "") in its command is not supported"
        return ""
    }
}
