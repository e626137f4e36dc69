/// A regular expression that is searched for in linear time: no text makes it slow, whoever wrote the text.
///
/// It knows characters, `.`, classes such as `[^a-z_]`, `\d \w \s \D \W \S`, `\b`, `^` and `$` (of a line), groups, `|`,
/// `* + ?` and `{2,5}`; and `\` before any other character but a letter or digit. It knows no captures, no references,
/// no look-around and no lazy forms, which change what is found and not whether.
///
/// - Source: Thompson, "Regular Expression Search Algorithm", CACM 11 (1968).
package struct LinearPattern: Hashable, Sendable {
    /// Why a text is no pattern.
    package struct Fault: Error, Hashable, Sendable {
        /// What is wrong, to stand behind the field's name.
        package let message: String
        /// The part of the text that is wrong.
        package let bytes: Range<Int>
    }

    /// The most steps a pattern may consist of; what a search costs is the length of the text times this.
    package static let mostSteps = 500

    /// What a search does at one place of the pattern.
    enum Step: Hashable {
        /// One character of a class; then the next step.
        case character(CharacterRule)
        case assertion(Assertion)
        /// Both steps at once.
        case split(Int, Int)
        case jump(Int)
        case found
    }

    enum Assertion: Hashable { case lineStart, lineEnd, wordEdge, notWordEdge }

    private let steps: [Step]
    private let ignoresCase: Bool

    /// Reads an expression.
    ///
    /// - Throws: ``Fault`` with the bytes of the expression that are wrong.
    package init(_ text: String, ignoresCase: Bool = false) throws(Fault) {
        var reader = PatternReader(text, ignoresCase: ignoresCase)
        var compiler = PatternCompiler()
        steps = try compiler.steps(of: try reader.read(), in: text)
        self.ignoresCase = ignoresCase
    }

    /// Whether the text holds it anywhere.
    package func isFound(in text: String) -> Bool {
        var search = Search(steps: steps)
        var before: Unicode.Scalar?
        var rest = text.unicodeScalars.makeIterator()
        var next = rest.next()
        while true {
            search.begin(at: before, next)
            if search.isOver { return true }
            guard let scalar = next else { return false }
            search.advance(over: ignoresCase ? scalar.folded : scalar)
            before = scalar
            next = rest.next()
        }
    }

    /// The steps that a search is at: each at most once.
    private struct Search {
        let steps: [Step]
        private var current: [Int] = []
        private var waiting: [Int] = []
        private var isListed: [Bool]
        private(set) var isOver = false

        init(steps: [Step]) {
            self.steps = steps
            isListed = Array(repeating: false, count: steps.count)
        }

        /// Follows what costs no character, between `before` and `next`; the search may begin here, too.
        mutating func begin(at before: Unicode.Scalar?, _ next: Unicode.Scalar?) {
            current.removeAll(keepingCapacity: true)
            var open = [0] + waiting.reversed()
            waiting.removeAll(keepingCapacity: true)
            while let place = open.popLast() {
                guard !isListed[place] else { continue }
                isListed[place] = true
                waiting.append(place)
                switch steps[place] {
                case .character: current.append(place)
                case .jump(let target): open.append(target)
                case .split(let first, let second): open += [second, first]
                case .found: isOver = true
                case .assertion(let assertion):
                    if assertion.holds(between: before, next) { open.append(place + 1) }
                }
            }
            for place in waiting { isListed[place] = false }
            waiting.removeAll(keepingCapacity: true)
        }

        mutating func advance(over scalar: Unicode.Scalar) {
            for place in current {
                if case .character(let rule) = steps[place], rule.matches(scalar) {
                    waiting.append(place + 1)
                }
            }
        }
    }
}

extension LinearPattern.Assertion {
    func holds(between before: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
        switch self {
        case .lineStart: before == nil || before == "\n"
        case .lineEnd: next == nil || next == "\n" || next == "\r"
        case .wordEdge: (before?.isOfWord ?? false) != (next?.isOfWord ?? false)
        case .notWordEdge: (before?.isOfWord ?? false) == (next?.isOfWord ?? false)
        }
    }
}

/// Which characters may stand at one place: those in the ranges, or those that are in none of them.
struct CharacterRule: Hashable {
    /// In ascending order, without overlaps.
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false

    func matches(_ scalar: Unicode.Scalar) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        return (low < ranges.count && ranges[low].contains(scalar.value)) != isNegated
    }

    /// The same characters, in ascending ranges that do not overlap.
    static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var merged: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Any character but a line end.
    static let any = CharacterRule(ranges: [0x0A...0x0A], isNegated: true)

    /// What `\d`, `\w` and `\s` stand for, in ASCII; nil: none of these.
    static func named(_ letter: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        switch letter {
        case "d": [0x30...0x39]
        case "w": [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
        case "s": [0x09...0x0D, 0x20...0x20]
        default: nil
        }
    }

    /// All characters that are in none of the ranges.
    static func others(than ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var others: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { others.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        return others + [next...0x10FFFF]
    }
}

extension Unicode.Scalar {
    /// A letter, digit or `_` of ASCII.
    fileprivate var isOfWord: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }

    /// In lower case, where that is one character.
    var folded: Unicode.Scalar {
        if isASCII { return ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(value) + 0x20) : self }
        let lower = properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first ?? self : self
    }
}

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
