/// One attempt of one run: what a performer starts at most once.
package struct RunKey: Hashable, Sendable {
    /// The run's id.
    ///
    /// Letters, digits, `.`, `_` and `-`, at most 64: it becomes a file's name.
    package var run: String
    /// The attempt, from 1.
    package var attempt: Int

    /// Names the attempt; ``isValid`` shows whether a performer accepts it.
    package init(run: String, attempt: Int) {
        self.run = run
        self.attempt = attempt
    }

    /// Whether the key may name a file.
    package var isValid: Bool {
        let bytes = run.utf8
        return (1...64).contains(bytes.count) && bytes.first != 0x2E && attempt > 0 && attempt < 1_000_000
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}

extension RunKey: CustomStringConvertible {
    /// `RUN.ATTEMPT`, the stem of the attempt's files.
    package var description: String { "\(run).\(attempt)" }

    /// Reads ``description`` back; nil when it is not one.
    package init?(description: String) {
        guard let dot = description.lastIndex(of: "."),
            let attempt = Int(description[description.index(after: dot)...])
        else { return nil }
        self.init(run: String(description[..<dot]), attempt: attempt)
        guard isValid else { return nil }
    }
}
