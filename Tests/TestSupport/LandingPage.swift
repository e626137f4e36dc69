package import Host

/// The code on a target's landing page, to be held against the test in which it is compiled.
package struct LandingPage {
    /// Every line of its Swift samples, without the comment behind it and the blanks in front.
    package let lines: [String]

    /// The page of `target`.
    package init(of target: String) throws(HostError) {
        let path = Self.root + "/Sources/\(target)/\(target).docc/\(target).md"
        var lines: [String] = []
        var isSample = false
        for line in try SmallFile.text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isSample = line == "```swift"
            } else if isSample, let code = Self.code(of: line) {
                lines.append(code)
            }
        }
        self.lines = lines
    }

    /// The lines that `source`, a file of the tests, does not have.
    package func missing(in source: String) throws(HostError) -> [String] {
        let text = try SmallFile.text(source).split(separator: "\n").compactMap(Self.code)
        return lines.filter { wanted in !text.contains { $0 == wanted || $0 == "_ = " + wanted } }
    }

    /// The tree that this file is in.
    private static let root = SmallFile.parent(of: SmallFile.parent(of: SmallFile.parent(of: #filePath)))

    private static func code(of line: Substring) -> String? {
        let end = line.firstRange(of: "  //")?.lowerBound ?? line.endIndex
        let code = line[..<end].drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        return code.isEmpty ? nil : String(code)
    }
}
