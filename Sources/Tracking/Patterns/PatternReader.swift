/// An expression as it was written.
indirect enum PatternNode {
    case empty
    case character(CharacterRule)
    case assertion(LinearPattern.Assertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    case repeated(PatternNode, least: Int, most: Int?)
}

/// Reads the text of a ``LinearPattern``.
struct PatternReader {
    private let scalars: [Unicode.Scalar]
    private let ignoresCase: Bool
    private var place = 0
    private var depth = 0

    /// Groups may stand in each other so deep.
    private static let deepest = 50
    private static let mostRepeats = 100

    init(_ text: String, ignoresCase: Bool) {
        scalars = Array(text.unicodeScalars)
        self.ignoresCase = ignoresCase
    }

    mutating func read() throws(LinearPattern.Fault) -> PatternNode {
        let node = try choice()
        if place < scalars.count { throw fault("a ) without a (", from: place) }
        return node
    }

    // MARK: Parts

    private mutating func choice() throws(LinearPattern.Fault) -> PatternNode {
        var choices = [try sequence()]
        while take("|") { choices.append(try sequence()) }
        return choices.count == 1 ? choices[0] : .choice(choices)
    }

    private mutating func sequence() throws(LinearPattern.Fault) -> PatternNode {
        var nodes: [PatternNode] = []
        while let next, next != "|", next != ")" {
            let start = place
            let node = try atom()
            nodes.append(try repetition(of: node, from: start))
        }
        return nodes.isEmpty ? .empty : .sequence(nodes)
    }

    private mutating func atom() throws(LinearPattern.Fault) -> PatternNode {
        let start = place
        guard let scalar = pop() else { return .empty }
        switch scalar {
        case ".": return .character(.any)
        case "^": return .assertion(.lineStart)
        case "$": return .assertion(.lineEnd)
        case "(": return try group(from: start)
        case "[": return .character(try set(from: start))
        case "\\": return try escape(from: start)
        case "*", "+", "?", "{": throw fault("nothing to repeat before \(scalar)", from: start)
        default: return .character(single(scalar))
        }
    }

    private mutating func group(from start: Int) throws(LinearPattern.Fault) -> PatternNode {
        if take("?"), !take(":") { throw fault("only (?: ) groups are known", from: start) }
        depth += 1
        if depth > Self.deepest { throw fault("too many groups in each other", from: start) }
        let inner = try choice()
        guard take(")") else { throw fault("a ( without a )", from: start, to: start + 1) }
        depth -= 1
        return inner
    }

    private mutating func repetition(
        of node: PatternNode, from start: Int
    ) throws(LinearPattern.Fault) -> PatternNode {
        var (least, most): (Int, Int?)
        if take("*") {
            (least, most) = (0, nil)
        } else if take("+") {
            (least, most) = (1, nil)
        } else if take("?") {
            (least, most) = (0, 1)
        } else if next == "{" {
            (least, most) = try counts()
        } else {
            return node
        }
        if case .assertion = node { throw fault("a place can't be repeated", from: start) }
        if let next, "*+?{".unicodeScalars.contains(next) {
            throw fault("lazy and double repetitions are not known", from: place, to: place + 1)
        }
        return .repeated(node, least: least, most: most)
    }

    private mutating func counts() throws(LinearPattern.Fault) -> (Int, Int?) {
        let start = place
        place += 1
        let least = number()
        var most = least
        if take(",") { most = next == "}" ? nil : number() ?? -1 }
        guard let least, take("}"), most.map({ $0 >= least }) ?? true else {
            throw fault("a count is written as {2}, {2,} or {2,5}", from: start)
        }
        guard max(least, most ?? 0) <= Self.mostRepeats else {
            throw fault("a count is at most \(Self.mostRepeats)", from: start)
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var digits = ""
        while let next, ("0"..."9").contains(next), digits.utf8.count < 5 {
            digits.unicodeScalars.append(next)
            place += 1
        }
        return Int(digits)
    }

    // MARK: Characters

    private mutating func escape(from start: Int) throws(LinearPattern.Fault) -> PatternNode {
        switch next {
        case "b": place += 1; return .assertion(.wordEdge)
        case "B": place += 1; return .assertion(.notWordEdge)
        default: return .character(CharacterRule(ranges: try escaped(from: start)))
        }
    }

    /// What stands behind a `\`.
    private mutating func escaped(from start: Int) throws(LinearPattern.Fault) -> [ClosedRange<UInt32>] {
        guard let scalar = pop() else { throw fault("nothing behind the \\", from: start) }
        if let ranges = CharacterRule.named(scalar) { return ranges }
        if scalar.isASCII, let ranges = CharacterRule.named(scalar.folded), scalar != scalar.folded {
            return CharacterRule.others(than: ranges)
        }
        switch scalar {
        case "n": return [0x0A...0x0A]
        case "r": return [0x0D...0x0D]
        case "t": return [0x09...0x09]
        case "a"..."z", "A"..."Z", "0"..."9": throw fault("\\\(scalar) is not known", from: start)
        default: return [scalar.value...scalar.value]
        }
    }

    private mutating func set(from start: Int) throws(LinearPattern.Fault) -> CharacterRule {
        var rule = CharacterRule()
        rule.isNegated = take("^")
        var isFirst = true
        while let scalar = pop() {
            if scalar == "]", !isFirst {
                rule.ranges = CharacterRule.merged(rule.ranges)
                return rule
            }
            isFirst = false
            var ranges = [scalar.value...scalar.value]
            if scalar == "\\" { ranges = try escaped(from: place - 1) }
            let isSingle = ranges.count == 1 && ranges[0].count == 1
            if isSingle, next == "-", place + 1 < scalars.count, scalars[place + 1] != "]" {
                place += 1
                var end = scalars[place].value
                place += 1
                if end == 0x5C { end = try escaped(from: place - 1).first?.upperBound ?? end }
                guard end >= ranges[0].lowerBound else { throw fault("a range that goes down", from: start) }
                ranges = [ranges[0].lowerBound...end]
            }
            rule.ranges += ignoresCase ? ranges.flatMap(Self.bothCases) : ranges
        }
        throw fault("a [ without a ]", from: start, to: start + 1)
    }

    private func single(_ scalar: Unicode.Scalar) -> CharacterRule {
        let value = (ignoresCase ? scalar.folded : scalar).value
        return CharacterRule(ranges: [value...value])
    }

    /// The range, and the small letters of the large ones in it: the text is searched in lower case.
    private static func bothCases(_ range: ClosedRange<UInt32>) -> [ClosedRange<UInt32>] {
        let large: ClosedRange<UInt32> = 0x41...0x5A
        guard range.overlaps(large) else {
            guard range.count == 1, let folded = Unicode.Scalar(range.lowerBound)?.folded else {
                return [range]
            }
            return [folded.value...folded.value]
        }
        let part = range.clamped(to: large)
        return [range, part.lowerBound + 0x20...part.upperBound + 0x20]
    }

    // MARK: Places

    private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    private mutating func pop() -> Unicode.Scalar? {
        defer { place += 1 }
        return next
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        place += 1
        return true
    }

    private func fault(_ message: String, from start: Int, to end: Int? = nil) -> LinearPattern.Fault {
        func bytes(_ count: Int) -> Int {
            scalars.prefix(count).reduce(0) { $0 + UTF8.width($1) }
        }
        let end = min(max(end ?? place, start + 1), scalars.count)
        return LinearPattern.Fault(message: message, bytes: bytes(min(start, end))..<bytes(end))
    }
}

/// Makes the steps of a pattern out of what was read.
struct PatternCompiler {
    private var steps: [LinearPattern.Step] = []

    mutating func steps(
        of node: PatternNode, in text: String
    ) throws(LinearPattern.Fault) -> [LinearPattern.Step] {
        add(node)
        steps.append(.found)
        guard steps.count <= LinearPattern.mostSteps else {
            throw LinearPattern.Fault(message: "the expression is too large", bytes: 0..<text.utf8.count)
        }
        return steps
    }

    private mutating func add(_ node: PatternNode) {
        // What is too large is refused at the end, and not built any further.
        guard steps.count <= LinearPattern.mostSteps else { return }
        switch node {
        case .empty: break
        case .character(let rule): steps.append(.character(rule))
        case .assertion(let assertion): steps.append(.assertion(assertion))
        case .sequence(let nodes): for node in nodes { add(node) }
        case .choice(let nodes): addChoice(nodes)
        case .repeated(let node, let least, let most):
            for _ in 0..<least {
                let before = steps.count
                add(node)
                // Repetitions of nothing, nested a few levels deep, would take forever.
                if steps.count == before { break }
            }
            if let most {
                for _ in least..<most { addOptional(node, again: false) }
            } else {
                addOptional(node, again: true)
            }
        }
    }

    /// In a loop, without recursion: there may be very many.
    private mutating func addChoice(_ nodes: [PatternNode]) {
        var jumps: [Int] = []
        for node in nodes.dropLast() {
            guard steps.count <= LinearPattern.mostSteps else { return }
            let split = steps.count
            steps.append(.split(split + 1, 0))
            add(node)
            jumps.append(steps.count)
            steps.append(.jump(0))
            steps[split] = .split(split + 1, steps.count)
        }
        if let last = nodes.last { add(last) }
        for jump in jumps { steps[jump] = .jump(steps.count) }
    }

    /// A node that may be left out, and, if `again`, repeated.
    private mutating func addOptional(_ node: PatternNode, again: Bool) {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        add(node)
        if again { steps.append(.jump(split)) }
        steps[split] = .split(split + 1, steps.count)
    }
}
