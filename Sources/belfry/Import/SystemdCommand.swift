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
        var word = ""
        var isWord = false
        var quote: Character?
        while let character = rest.popFirst() {
            switch character {
            case "'", "\"":
                isWord = true
                if quote == nil {
                    quote = character
                } else if quote == character {
                    quote = nil
                } else {
                    word.append(character)
                }
            case " ",
                "\t" where quote == nil:
                if quote != nil { word.append(character) } else if isWord { finish(&word, &isWord) }
            case "\\":
                isWord = true
                word.append(escape(rest.popFirst()))
            case "%":
                isWord = true
                word += specifier(rest.popFirst(), home)
            case "$":
                isWord = true
                if rest.first == "$" {
                    rest.removeFirst()
                } else {
                    problem = "systemd would expand a $ in its command"
                }
                word.append("$")
            default:
                isWord = true
                word.append(character)
            }
        }
        if quote != nil { problem = "a quote of its command is not closed" }
        if isWord { finish(&word, &isWord) }
        if words.contains(";") { problem = "it has several commands" }
        if words.isEmpty { problem = "it has no command" }
    }

    private mutating func finish(_ word: inout String, _ isWord: inout Bool) {
        words.append(word)
        word = ""
        isWord = false
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
