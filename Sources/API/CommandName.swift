/// The name a wrapped command is filed under.
package enum CommandName {
    /// A name for `program`: its last path component, in the letters names may have; `exec` when none is left.
    package static func of(_ program: String) -> String {
        let last = program.split(separator: "/").last.map(String.init) ?? ""
        let name = last.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9", ".", "_", "-": Character(scalar)
            default: "-"
            }
        }
        let trimmed = String(name.drop { !$0.isLetter && !$0.isNumber }.prefix(63))
        return isName(trimmed) ? trimmed : "exec"
    }

    /// Whether `name` may name a job or a bot: `[a-z0-9][a-z0-9._-]{0,62}`, and no word of `belfry run`.
    package static func isName(_ name: String) -> Bool { fault(in: name) == nil }

    /// Why `name` may name neither, as the end of a sentence; nil when it may.
    package static func fault(in name: String) -> String? {
        if ["show", "logs", "cancel", "retry"].contains(name) {
            return "is a word of belfry run; choose another"
        }
        guard name.utf8.count <= 63 else { return "has more than 63 letters" }
        guard let first = name.utf8.first, isLetterOrDigit(first),
            name.utf8.allSatisfy({ isLetterOrDigit($0) || [0x2E, 0x5F, 0x2D].contains($0) })
        else { return "is not of a-z, 0-9, '.', '_' and '-', with a letter or digit first" }
        return nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
}
