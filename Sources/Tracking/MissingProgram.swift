/// That a program is in none of the folders it was looked for in: the sentence, and the part of it that fits a line.
package struct MissingProgram: Hashable, Sendable {
    /// `no program "foo"`.
    package let headline: String
    /// The folders, separated by colons.
    private let path: String

    /// The program of this name, which has no slash, was looked for in `path`.
    package init(_ name: String, in path: String) {
        headline = Self.start + name + "\""
        self.path = path
    }

    /// Reads ``sentence``; nil for any other text.
    package init?(_ sentence: String) {
        let rest = sentence.dropFirst(Self.start.count)
        guard sentence.hasPrefix(Self.start), let end = rest.firstRange(of: "\" in ") else { return nil }
        self.init(String(rest[..<end.lowerBound]), in: String(rest[end.upperBound...]))
    }

    /// `no program "foo" in /usr/bin:/bin`.
    package var sentence: String { "\(headline) in \(path)" }

    /// A sentence of this form without its folders; any other text as it is.
    package static func headline(of text: String) -> String { MissingProgram(text)?.headline ?? text }

    private static let start = "no program \""
}
