/// The rule for names of jobs and bots.
package enum JobName {
    /// Subcommands of `belfry run`; no job may have such a name.
    package static let reserved: Set<String> = ["show", "logs", "cancel", "retry"]

    /// What is wrong with `name`, as the end of a sentence; nil when it is a good name.
    ///
    /// A good one is 1 to 63 bytes of `a-z 0-9 . _ -`, begins with a letter or digit, and is not reserved.
    package static func fault(in name: String) -> String? {
        let bytes = Array(name.utf8)
        guard let first = bytes.first else { return "a name can't be empty" }
        guard bytes.count <= 63 else { return "a name has at most 63 characters" }
        guard isLetterOrDigit(first) else { return "a name begins with a-z or 0-9" }
        for byte in bytes where !isLetterOrDigit(byte) && byte != 0x2E && byte != 0x5F && byte != 0x2D {
            return "a name holds only a-z, 0-9, '.', '_' and '-'"
        }
        if reserved.contains(name) { return "\"\(name)\" is a word of the run command" }
        return nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
}
