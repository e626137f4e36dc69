import Cron
import Ledger
import Yams

/// A node of a file with the path that leads to it; every way to read one reports its faults with the place.
struct Field {
    let node: Node
    /// As in `jobs.backup.timeout`; empty for the whole file.
    let path: String
    let source: SourceText
    let faults: Faults

    // MARK: Pointing

    var line: Int { node.mark?.line ?? 1 }

    /// The last part of the path: `timeout` of `jobs.backup.timeout`, `to` of `routes[0].to`.
    var name: String {
        let last = path.split(separator: ".").last ?? ""
        return String(last.prefix { $0 != "[" })
    }

    /// `FILE:LINE`.
    var place: String { "\(source.name):\(line)" }

    /// This key, for a fault of the whole entry whose value is given: `bots.sage` in place of `bots`.
    func naming(_ value: Field) -> Field {
        Field(node: node, path: value.path, source: source, faults: faults)
    }

    /// Reports a fault of this field; with `bytes`, of that part of its text.
    func fault(_ message: String, hint: String? = nil, bytes: Range<Int>? = nil) {
        faults.add(problem(message, hint: hint, bytes: bytes))
    }

    func warn(_ message: String, hint: String? = nil) {
        faults.warnings.append(problem(message, hint: hint, bytes: nil))
    }

    /// How this field is understood, where people read it in two ways.
    func note(_ message: String) {
        faults.notes.append(problem(message, hint: nil, bytes: nil))
    }

    private func problem(_ message: String, hint: String?, bytes: Range<Int>?) -> Problem {
        let message = path.isEmpty ? message : "\(path): \(message)"
        let column = node.mark?.column ?? 1
        guard let text = node.scalar?.string, let indent = writtenAsItIs(text, column) else {
            // Escapes, a block or an anchor: places in the text are not places in the file.
            return source.problem(line: line, column: column, message, hint: hint)
        }
        let utf8 = Array(text.utf8)
        let part = bytes?.clamped(to: 0..<utf8.count) ?? 0..<utf8.count
        let before = String(decoding: utf8[..<part.lowerBound], as: UTF8.self).unicodeScalars.count
        let width = String(decoding: utf8[part], as: UTF8.self).count
        return source.problem(line: line, column: column + indent + before, width: width, message, hint: hint)
    }

    /// How far behind the node's mark its text stands in the file, letter for letter.
    private func writtenAsItIs(_ text: String, _ column: Int) -> Int? {
        let written = source.line(line).unicodeScalars.dropFirst(column - 1)
        let isQuoted = written.first == "\"" || written.first == "'"
        return written.dropFirst(isQuoted ? 1 : 0).starts(with: text.unicodeScalars)
            ? (isQuoted ? 1 : 0) : nil
    }

    // MARK: Shape

    /// The text of a scalar; nil: it is a map or a list.
    var scalar: String? { node.scalar?.string }

    var isMap: Bool { node.mapping != nil }

    /// The text of a member of this map, without a report of anything.
    func text(of member: String) -> String? { node.mapping?[member]?.scalar?.string }

    var isList: Bool { node.sequence != nil }

    /// The text of a list's one element; nil: it is no list, or has more or none.
    var onlyElement: String? {
        guard let sequence = node.sequence, sequence.count == 1 else { return nil }
        return sequence.first?.scalar?.string
    }

    /// Whether nothing stands behind the key.
    var isEmpty: Bool { node.scalar.map { $0.string.isEmpty && $0.style == .plain } ?? false }

    /// Whether it is a list without elements, or nothing at all.
    var holdsNothing: Bool { isEmpty || node.sequence?.isEmpty == true }

    private var kind: String {
        switch node {
        case .scalar: isEmpty ? "nothing" : "text"
        case .mapping: "a map"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }

    // MARK: Scalars

    /// The scalar as it was written; nil after reporting that it is none.
    func text() -> String? {
        guard let text = node.scalar?.string else {
            // What a template writes as {{ x }} is a map in a map.
            let written = source.line(line).unicodeScalars.dropFirst((node.mark?.column ?? 1) - 1)
            let isTemplate = written.starts(with: "{{".unicodeScalars)
            fault("expected text, found \(kind)", hint: isTemplate ? "quote it, as \"{{ x }}\"" : nil)
            return nil
        }
        // The system's calls would end such a text early.
        guard !text.utf8.contains(0) else {
            fault("a text holds no zero byte")
            return nil
        }
        return text
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

    // MARK: Collections

    /// The elements of a list, each with its own place; none when nothing stands there.
    ///
    /// The hint for a text in its place has those of `known` that its words stand for.
    func list(of known: [String] = []) -> [Field]? {
        if isEmpty { return [] }
        guard let sequence = node.sequence else {
            let words = scalar.map { text in
                text.split { $0 == "," || !known.isEmpty && $0 == " " }.map { part in
                    let word = String(part.trimmingPrefix { $0 == " " })
                    let meant = known.contains(word) ? nil : JobFault.meant(by: word, among: known)
                    return CommonMistakes.plain(meant ?? word)
                }
            }
            if let (message, hint) = dashMistake {
                fault(message, hint: hint)
                return nil
            }
            fault(
                "expected a list, found \(kind)",
                hint: words.map { "write \(name): [\($0.joined(separator: ", "))]" }
                    ?? "begin each entry with \"- \"")
            return nil
        }
        guard faults.mayVisit(sequence.count, of: self) else { return nil }
        return sequence.enumerated().map {
            Field(node: $1, path: "\(path)[\($0)]", source: source, faults: faults)
        }
    }

    /// The entries of a map, in the order of the file; none when nothing stands there.
    func entries() -> [(key: Field, value: Field)]? {
        if isEmpty { return [] }
        guard let mapping = node.mapping else {
            let (message, hint) = mapMistake
            fault(message ?? "expected a map, found \(kind)", hint: hint)
            return nil
        }
        guard faults.mayVisit(mapping.count, of: self) else { return nil }
        var names: Set<String> = []
        return mapping.compactMap { key, value in
            let keyField = Field(node: key, path: path, source: source, faults: faults)
            guard let name = key.scalar?.string else {
                keyField.fault("a key must be a text")
                return nil
            }
            // The parser refuses equal keys, but takes those of different tags for different ones.
            guard names.insert(name).inserted else {
                keyField.fault("\"\(name)\" is given twice")
                return nil
            }
            let inner = path.isEmpty ? name : "\(path).\(name)"
            return (keyField, Field(node: value, path: inner, source: source, faults: faults))
        }
    }

    /// The entries of a map whose keys are known; the others are reported.
    ///
    /// `later` are keys of the manual's future, which deserve another word than "unknown".
    /// `instead` has what other keys stand for.
    func record(
        keys: [String], later: [String] = [], instead: [String: Instead] = [:]
    ) -> [String: Field]? {
        guard let entries = entries() else { return nil }
        var fields: [String: Field] = [:]
        for (key, value) in entries {
            let name = key.scalar ?? ""
            if keys.contains(name) {
                fields[name] = value
            } else if later.contains(name) {
                key.fault("\"\(name)\" is not in this version")
            } else {
                let hint = instead[name]?.hint(of: value, in: self) ?? Self.meant(name, of: keys)
                let (message, blank) = key.blankMistake(among: keys)
                key.fault(message ?? "unknown key \"\(name)\"", hint: message == nil ? hint : blank)
            }
        }
        return fields
    }

    /// Whether a key of this map, none of `keys`, was surely meant to be one of `words`.
    func misspells(
        _ words: [String], among keys: [String], instead: [String: Instead] = [:]
    ) -> Bool {
        let names = (node.mapping?.keys).map { $0.compactMap(\.scalar?.string) } ?? []
        return names.contains { name in
            guard !keys.contains(name) else { return false }
            let parts = name.split { $0 == ":" || $0.isWhitespace }.first.map(String.init) ?? name
            let meant = keys.contains(parts) ? parts : instead[name]?.key ?? NearestName.of(name, among: keys)
            return meant.map(words.contains) ?? false
        }
    }

    /// The hint for a word that is none of `words`.
    static func meant(_ word: String, of words: [String]) -> String {
        if let near = JobFault.meant(by: word, among: words) { return "did you mean \"\(near)\"?" }
        return known(words)
    }

    static func known(_ words: [String]) -> String { "known here: \(words.joined(separator: ", "))" }
}

// Texts and lists where a map is wanted, and keys and dashes with the wrong blanks.
extension Field {
    /// What is wrong with a text that begins a line and was meant as a list: `-echo`; nil: it was not.
    var dashMistake: (message: String, hint: String)? {
        guard let text = scalar, text.hasPrefix("-"), let next = text.dropFirst().first, next != " ",
            next != "-"
        else { return nil }
        let written = source.line(line)
        let lead = written.unicodeScalars.prefix((node.mark?.column ?? 1) - 1)
        guard lead.allSatisfy({ $0 == " " }) else { return nil }
        return (SyntaxMistake.noSpace(after: "-"), "write - \(written.drop { $0 == " " }.dropFirst())")
    }

    /// What was meant by a text or list in the place of a map: another message, where there is a better one; and a hint.
    private var mapMistake: (message: String?, hint: String) {
        let usual = "write it as key: value, one a line"
        if let text = scalar {
            let key = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            let rest = text.dropFirst(key.count)
            guard !key.isEmpty, rest.first == ":", rest.count > 1, !rest.hasPrefix(":/"), path.isEmpty else {
                return (nil, usual)
            }
            return (SyntaxMistake.noSpace(after: "\(key):"), "write \(key): \(rest.dropFirst())")
        }
        guard let first = node.sequence?.first?.mapping else { return (nil, usual) }
        let name = first["name"]?.scalar?.string ?? first.first?.key.scalar?.string
        return (nil, name.map { "write each name as a key, without \"-\", such as \($0):" } ?? usual)
    }

    /// What is wrong with the blanks of this key, none of `keys`; nil: nothing.
    fileprivate func blankMistake(among keys: [String]) -> (message: String?, hint: String?) {
        guard let name = scalar, let first = name.first else { return (nil, nil) }
        if first.isWhitespace {
            return ("a blank that is no space stands before this key", "indent with spaces")
        }
        guard let colon = name.firstIndex(of: ":"), keys.contains(String(name[..<colon])) else {
            return (nil, nil)
        }
        let key = name[...colon]
        return (
            SyntaxMistake.noSpace(after: String(key)), "write \(key) \(name[colon...].dropFirst())"
        )
    }

    /// The entries of a map of maps; lines that should stand below one of them, and do not, are reported.
    ///
    /// `inner` are the keys of such a map: `schedule` beside the job `backup` was meant to be below it.
    func entries(of kind: String, inner: [String]) -> [(key: Field, value: Field)]? {
        guard let all = entries() else { return nil }
        func isStray(_ entry: (key: Field, value: Field)) -> Bool {
            inner.contains(entry.key.scalar ?? "") && !entry.value.isMap
        }
        guard let place = all.firstIndex(where: isStray), place > 0, all[place - 1].value.isEmpty,
            let owner = all[place - 1].key.scalar
        else { return all }
        all[place].key.fault(
            "\"\(all[place].key.scalar ?? "")\" stands beside the \(kind) \"\(owner)\", not below it",
            hint: "indent it deeper than \(owner):")
        return all.enumerated().filter { $0 != place - 1 && !isStray($1) }.map(\.element)
    }
}
