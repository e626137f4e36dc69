import Timeline
import Yams

/// A node of a file with the path that leads to it; every way to read one reports its faults with the place.
struct Field {
    let node: Node
    /// As in `jobs.backup.timeout`.
    let path: String
    let source: SourceText
    let faults: Faults

    /// All faults found so far; reading goes on after each, so that a person sees them at once.
    final class Faults {
        var problems: [Problem] = []
        var warnings: [Problem] = []
    }

    // MARK: Pointing

    var line: Int { node.mark?.line ?? 1 }

    /// The column of the text itself, behind an opening quote.
    var column: Int { (node.mark?.column ?? 1) + (isQuoted ? 1 : 0) }

    /// `FILE:LINE`.
    var place: String { "\(source.name):\(line)" }

    private var isQuoted: Bool {
        node.scalar?.style == .singleQuoted || node.scalar?.style == .doubleQuoted
    }

    /// Reports a fault of this field; with `range`, of those characters of its text.
    func fault(_ message: String, mend: String? = nil, range: Range<Int>? = nil) {
        faults.problems.append(problem(message, mend: mend, range: range))
    }

    func warn(_ message: String, mend: String? = nil) {
        faults.warnings.append(problem(message, mend: mend, range: nil))
    }

    private func problem(_ message: String, mend: String?, range: Range<Int>?) -> Problem {
        let shift = range?.lowerBound ?? 0
        let width = range?.count ?? node.scalar?.string.count ?? 1
        return source.problem(
            line: line, column: column + shift, width: width, "\(path): \(message)", mend: mend)
    }

    // MARK: Shape

    /// The text of a scalar; nil: it is a map or a list.
    var scalar: String? { node.scalar?.string }

    var isMap: Bool { node.mapping != nil }

    var isList: Bool { node.sequence != nil }

    // MARK: Scalars

    /// The scalar as it was written; nil after reporting that it is none.
    func text() -> String? {
        guard let scalar = node.scalar else {
            fault("a \(kind) stands where a text is expected")
            return nil
        }
        return scalar.string
    }

    /// A text that is not empty.
    func word() -> String? {
        guard let text = text() else { return nil }
        guard !text.isEmpty else {
            fault("can't be empty")
            return nil
        }
        return text
    }

    /// A duration such as `90s`, `15m`, `1h30m`.
    func duration() -> Duration? {
        guard let text = word() else { return nil }
        do {
            return try Duration(text: text)
        } catch {
            fault("\"\(text)\" is not a duration", mend: "write one as 90s, 15m, 2h or 7d")
            return nil
        }
    }

    /// A whole number within limits.
    func number(in limits: ClosedRange<Int>) -> Int? {
        guard let text = word() else { return nil }
        guard let number = Int(text), limits.contains(number) else {
            fault("\"\(text)\" is not a whole number from \(limits.lowerBound) to \(limits.upperBound)")
            return nil
        }
        return number
    }

    /// One of a few words.
    func choice<Choice: RawRepresentable & CaseIterable>(of type: Choice.Type) -> Choice?
    where Choice.RawValue == String {
        guard let text = word() else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            fault("\"\(text)\" is none of \(words.joined(separator: ", "))", mend: meant(text, of: words))
            return nil
        }
        return choice
    }

    // MARK: Collections

    /// The elements of a list, each with its own place.
    func list() -> [Field]? {
        guard let sequence = node.sequence else {
            fault("a \(kind) stands where a list is expected", mend: "write it as [a, b]")
            return nil
        }
        return sequence.enumerated().map {
            Field(node: $1, path: "\(path)[\($0)]", source: source, faults: faults)
        }
    }

    /// A list of texts, none empty.
    func words() -> [String]? {
        list()?.compactMap { $0.word() }
    }

    /// The entries of a map, in the order of the file, by key.
    func entries() -> [(key: Field, value: Field)]? {
        guard let mapping = node.mapping else {
            fault("a \(kind) stands where a map is expected")
            return nil
        }
        return mapping.compactMap { key, value in
            let keyField = Field(node: key, path: path.isEmpty ? "key" : path, source: source, faults: faults)
            guard let name = key.scalar?.string else {
                keyField.fault("a key must be a text")
                return nil
            }
            let inner = path.isEmpty ? name : "\(path).\(name)"
            return (keyField, Field(node: value, path: inner, source: source, faults: faults))
        }
    }

    /// A map of texts to texts.
    func texts() -> [String: String]? {
        guard let entries = entries() else { return nil }
        var texts: [String: String] = [:]
        for (key, value) in entries {
            if let name = key.text(), let text = value.text() { texts[name] = text }
        }
        return texts
    }

    /// The entries of a map whose keys are known; the others are reported.
    ///
    /// `later` are keys of the manual's future, which deserve another word than "unknown".
    func record(keys: [String], later: [String] = []) -> [String: Field]? {
        guard let entries = entries() else { return nil }
        var fields: [String: Field] = [:]
        for (key, value) in entries {
            let name = key.scalar ?? ""
            if keys.contains(name) {
                fields[name] = value
            } else if later.contains(name) {
                key.fault("\"\(name)\" is not in this version")
            } else {
                key.fault("unknown key \"\(name)\"", mend: meant(name, of: keys))
            }
        }
        return fields
    }

    private var kind: String {
        switch node {
        case .scalar: "text"
        case .mapping: "map"
        case .sequence: "list"
        case .alias: "alias"
        }
    }

    private func meant(_ word: String, of words: [String]) -> String {
        if let near = Spelling.nearest(to: word, among: words) { return "did you mean \"\(near)\"?" }
        return "known here: \(words.joined(separator: ", "))"
    }
}
