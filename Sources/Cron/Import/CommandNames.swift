/// Makes names out of commands, no two of them the same.
///
/// A name is 1 to 63 bytes of `a-z 0-9 . _ -` and begins with a letter or a digit.
public struct CommandNames: Sendable {
    private var taken: Set<String>

    /// The number to try next for a name that was made before, so that many equal commands cost no more.
    private var numbers: [String: Int] = [:]

    /// Words that stand in front of the program that matters, and what shells do themselves.
    private static let wrappers: Set<String> = [
        "sudo", "nice", "ionice", "chronic", "env", "exec", "time", "timeout", "flock", "nohup", "setsid",
        "cd", "test", "[", "]", "&&", "||", ";", "!", "{", "(", "if", "then", "command", "sh", "bash", "dash",
        "perl", "python", "python3", "php", "ruby", "node", "systemd-cat", "eatmydata", "stdbuf", "umask",
    ]

    /// - Parameter taken: Names that may not be made.
    public init(taken: Set<String> = []) { self.taken = taken }

    /// A name for `command`: that of its first program, with a number where it is taken.
    public mutating func name(for command: String) -> String {
        let stem = Self.stem(of: command)
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

    private static func stem(of command: String) -> String {
        let words = command.split { " \t\n'\"`$();|&<>".contains($0) }
        var skipsOperand = false
        for word in words where !word.hasPrefix("-") && !word.contains("=") {
            defer { skipsOperand = ["cd", "test", "[", "umask", "timeout", "flock"].contains(word) }
            let name = word.split(separator: "/").last ?? ""
            guard !skipsOperand, !wrappers.contains(String(name)), let clean = clean(name) else { continue }
            return clean
        }
        return "job"
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
