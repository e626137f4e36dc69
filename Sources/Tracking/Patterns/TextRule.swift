/// What a text must hold: these characters, or, between slashes, a match of a pattern: `/done in \d+ s/`, with an `i`
/// behind it in either case.
package struct TextRule: Hashable, Sendable {
    private enum Kind: Hashable {
        case characters([UInt8])
        case pattern(LinearPattern)
    }

    private let kind: Kind

    /// Reads a rule as it was written.
    ///
    /// - Throws: what is wrong with the pattern, with its bytes in `written`.
    package init(_ written: String) throws(LinearPattern.Fault) {
        let endings = ["/i", "/"]
        guard written.utf8.count > 2, written.hasPrefix("/"),
            let end = endings.first(where: { written.hasSuffix($0) })
        else {
            kind = .characters(Array(written.utf8))
            return
        }
        let text = String(written.dropFirst().dropLast(end.count))
        do throws(LinearPattern.Fault) {
            kind = .pattern(try LinearPattern(text, ignoresCase: end == "/i"))
        } catch {
            throw LinearPattern.Fault(
                message: error.message, bytes: error.bytes.lowerBound + 1..<error.bytes.upperBound + 1)
        }
    }

    /// Whether the text holds it anywhere; takes time in proportion to its length.
    package func holds(in text: String) -> Bool {
        switch kind {
        case .pattern(let pattern): pattern.isFound(in: text)
        case .characters(let wanted): Self.contains(text.utf8, wanted)
        }
    }

    /// - Source: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings", 1977.
    private static func contains(_ text: String.UTF8View, _ wanted: [UInt8]) -> Bool {
        guard !wanted.isEmpty else { return true }
        var fallback = [Int](repeating: 0, count: wanted.count)
        var length = 0
        for place in wanted.indices.dropFirst() {
            while length > 0, wanted[place] != wanted[length] { length = fallback[length - 1] }
            if wanted[place] == wanted[length] { length += 1 }
            fallback[place] = length
        }
        length = 0
        for byte in text {
            while length > 0, byte != wanted[length] { length = fallback[length - 1] }
            if byte == wanted[length] { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }
}
