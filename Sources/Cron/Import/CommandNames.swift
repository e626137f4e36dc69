/// Makes names out of commands, no two of them the same.
///
/// A name is 1 to 63 bytes of `a-z 0-9 . _ -` and begins with a letter or a digit.
public struct CommandNames: Sendable {
    private var taken: Set<String>

    /// The number to try next for a name that was made before, so that many equal commands cost no more.
    private var numbers: [String: Int] = [:]

    /// - Parameter taken: Names that may not be made.
    public init(taken: Set<String> = []) { self.taken = taken }

    /// A name for `command`: that of the program that matters, with a number where it is taken.
    public mutating func name(for command: String) -> String {
        let stem = ShellCommands(command).name.flatMap(Self.clean) ?? "job"
        var name = stem
        var number = numbers[stem] ?? 2
        defer { numbers[stem] = number }
        while !taken.insert(name).inserted {
            let end = "-\(number)"
            name = String(stem.prefix(63 - end.utf8.count)) + end
            number += 1
        }
        return name
    }

    /// `name` in the letters a name may have; `nil` when no letter is left.
    private static func clean(_ name: Substring) -> String? {
        var clean = ""
        for byte in name.utf8.prefix(200) {
            switch byte {
            case 0x61...0x7A, 0x30...0x39, 0x2E, 0x5F: clean.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x41...0x5A: clean.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            default: if clean.last != "-" { clean.append("-") }
            }
        }
        let isMark: (Character) -> Bool = { "-._".contains($0) }
        let text = clean.drop(while: isMark).prefix(63)
        guard text.contains(where: { ("a"..."z").contains($0) }) else { return nil }
        var end = text
        while let last = end.last, isMark(last) { end.removeLast() }
        return String(end)
    }
}

/// The simple commands of a shell text, as far as naming them needs: quotes are dropped, nothing is expanded.
private struct ShellCommands {
    private var commands: [[Substring]] = []
    /// The files that it writes to.
    private var targets: [Substring] = []

    /// Words in front of the program that matters, with how many operands they have besides options.
    private static let wrappers = [
        "sudo": 0, "doas": 0, "nice": 0, "ionice": 0, "chronic": 0, "env": 0, "exec": 0, "time": 0,
        "nohup": 0,
        "setsid": 0, "command": 0, "systemd-cat": 0, "eatmydata": 0, "stdbuf": 0, "sh": 0, "bash": 0,
        "dash": 0, "zsh": 0, "ksh": 0, "perl": 0, "python": 0, "python3": 0, "php": 0, "ruby": 0, "node": 0,
        "timeout": 1, "flock": 1, "chrt": 1, "taskset": 1,
    ]
    /// Options of theirs with a value in the next word.
    private static let valued: [String: Set<Substring>] = [
        "sudo": ["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-r", "-t", "-T", "-U"], "doas": ["-u", "-C"],
        "nice": ["-n"], "ionice": ["-c", "-n"], "timeout": ["-k", "-s"], "flock": ["-w", "-E"],
        "env": ["-u", "-C"], "exec": ["-a"], "time": ["-f", "-o"], "systemd-cat": ["-t", "-p"],
        "stdbuf": ["-i", "-o", "-e"], "chrt": ["-T", "-P", "-D"], "bash": ["-o", "-O"], "sh": ["-o"],
        "dash": ["-o"], "ksh": ["-o"], "zsh": ["-o"], "perl": ["-I"], "python": ["-W", "-X"],
        "python3": ["-W", "-X"], "php": ["-c", "-d"], "ruby": ["-I", "-r"], "node": ["-r"],
    ]
    private static let keywords: Set<Substring> = [
        "if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "done", "fi", "esac",
    ]
    /// What the shell does itself, or only asks.
    private static let silent: Set<Substring> = [
        "cd", "test", "[", "[[", "umask", "ulimit", "set", "export", "unset", "source", ".", "trap", "wait",
        "exit", "read", "case", "select", "return",
    ]
    /// Programs that name a job only when there is no other.
    private static let poor: Set<Substring> = [
        "echo", "printf", "sleep", "true", "false", ":", "date", "cat",
    ]

    init(_ text: String) {
        var words: [Substring] = []
        var rest = text[...]
        // Of `for x in a b; do`, which names no program, everything up to `do`.
        var isList = false
        var isTarget = false
        while let first = rest.first {
            if first == ">" { isTarget = true }
            if rest.hasPrefix("$(("), let end = rest.firstRange(of: "))") {
                rest = rest[end.upperBound...]
            } else if ";|&\n()`".contains(first) {
                if !isList, !words.isEmpty { commands.append(words) }
                if !isList { words = [] }
                isTarget = false
                rest.removeFirst()
            } else if " \t'\"$<>".contains(first) {
                rest.removeFirst()
            } else {
                let word = rest.prefix { !" \t\n'\"`$();|&<>".contains($0) }
                rest = rest[word.endIndex...]
                if word == "for", words.allSatisfy(Self.keywords.contains) { isList = true }
                if isList, word == "do" { (isList, words) = (false, []) }
                if isTarget { targets.append(word) } else if !isList { words.append(word) }
                isTarget = false
            }
        }
        if !words.isEmpty { commands.append(words) }
    }

    /// The name of the first program that shows what the text is for.
    ///
    /// Where that is nothing like `echo` either, the file that it writes to, or the program with its first word.
    var name: Substring? {
        var poor: (name: Substring, words: [Substring])?
        for words in commands {
            guard let name = Self.program(words[...]), name.contains(where: \.isLetter) else { continue }
            guard Self.poor.contains(name) else { return name }
            poor = poor ?? (name, words)
        }
        guard let poor else { return nil }
        if let file = targets.first(where: { !$0.hasPrefix("/dev/") })?.split(separator: "/").last {
            let stem = file.prefix { $0 != "." }
            if stem.count > 2, stem.contains(where: \.isLetter) { return stem }
        }
        let operand = poor.words.dropFirst().first { $0.first?.isLetter == true }
        return operand.map { "\(poor.name)-\($0)" } ?? poor.name
    }

    private static func program(_ words: ArraySlice<Substring>) -> Substring? {
        var words = words
        while let word = words.popFirst() {
            let name = word.split(separator: "/").last ?? ""
            if keywords.contains(word) || word.contains("=") || word.hasPrefix("-") { continue }
            if silent.contains(name) { return nil }
            // It is for what the folder is for, such as that of `cron.daily`.
            if name == "run-parts" {
                return words.last { $0.contains("/") }?.split(separator: "/").last ?? name
            }
            guard let operands = wrappers[String(name)] else { return name }
            while let option = words.first, option.hasPrefix("-") {
                words.removeFirst()
                if valued[String(name)]?.contains(option) == true, words.count > 1 { words.removeFirst() }
            }
            // `flock 9` runs nothing itself.
            guard words.count > operands else { return operands > 0 ? nil : name }
            words.removeFirst(operands)
        }
        return nil
    }
}
