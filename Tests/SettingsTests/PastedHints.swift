import Testing

/// A hint is only worth something if what it says to write is accepted.
@Suite struct `a hint that says what to write` {
    /// The text of a mistake after every hint of it was followed; nil where a hint does not say word for word what to
    /// write.
    private static func followed(_ mistake: Mistake) -> String? {
        var lines = mistake.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let shown = mistake.shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let heads = shown.indices.filter { shown[$0].hasPrefix("belfry.yaml:") }
        // The last one first: places before it stay what they are.
        for head in heads.reversed() {
            let parts = shown[head].split(separator: ":", maxSplits: 3)
            guard let line = Int(parts[1]), let column = Int(parts[2]), head + 2 < shown.count else {
                return nil
            }
            let place = Place(
                line: lines[line - 1], start: column - 1, width: shown[head + 2].filter { $0 == "^" }.count)
            guard let fixed = place.fixed(by: String(parts[3])) else { return nil }
            lines[line - 1] = fixed
        }
        return lines.joined(separator: "\n")
    }

    /// The part of a line that a mistake points at.
    private struct Place {
        var line: String
        var start: Int
        var width: Int

        func fixed(by message: String) -> String? {
            let letters = Array(line)
            if let word = message.firstMatch(of: /did you mean "([^"]+)"\?/)?.output.1 {
                return String(letters[..<start]) + word + String(letters[(start + width)...])
            }
            guard let hint = message.firstMatch(of: /; write (.+)$/)?.output.1,
                !["it ", "each ", "the ", "secret:"].contains(where: hint.hasPrefix)
            else { return nil }
            let text = hint.split(separator: #/, (?:or|for) /#)[0]
            if text.hasPrefix("- ") { return String(letters[..<start]) + text }
            guard let key = text.prefixMatch(of: /([a-zA-Z-]+):/)?.output.1 else {
                return String(letters[..<start]) + text + String(letters[(start + width)...])
            }
            if text.hasSuffix(":") {
                return String(letters[..<start]) + text + String(letters[(start + width + 1)...])
            }
            let first = self.first(of: String(key), letters)
            return String(letters[..<first]) + text + String(letters[self.end(after: first, letters)...])
        }

        /// Where the key begins whose value is replaced.
        private func first(of key: String, _ letters: [Character]) -> Int {
            let isKey = letters.dropFirst(start + width).first == ":"
            if isKey || String(letters[start...]).hasPrefix(key + ":") { return start }
            let lead = String(letters[..<start])
            return lead.firstMatch(of: /[a-zA-Z]+: *["']?$/).map { lead[..<$0.range.lowerBound].count }
                ?? start
        }

        /// The end of the value: of the line, or of the entry where that is in braces.
        private func end(after first: Int, _ letters: [Character]) -> Int {
            guard letters[..<first].contains("{") else { return letters.count }
            var depth = 0
            for index in first..<letters.count {
                switch letters[index] {
                case "{", "[": depth += 1
                case ",", "}", "]":
                    if depth == 0 { return letters[index] == "," ? index : index - 1 }
                    if letters[index] != "," { depth -= 1 }
                default: break
                }
            }
            return letters.count
        }
    }

    private static let all = Mistake.all.compactMap { mistake in followed(mistake).map { (mistake.name, $0) }
    }

    @Test func `is most of those known`() {
        #expect(Self.all.count >= 30, "\(Self.all.map(\.0))")
    }

    @Test(arguments: all) func `is accepted when it is followed`(name: String, text: String) {
        #expect(refusal(text).isEmpty, "\(refusal(text))\n\(text)")
    }
}
