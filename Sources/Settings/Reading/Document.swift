import Yams

/// The one document of a file as YAML sees it.
struct Document {
    let source: SourceText
    let faults: Faults

    /// The outermost node; an empty map when the file says nothing, nil after its fault was reported.
    func root() -> Field? {
        if let alias = AliasGuard.fault(in: source) {
            faults.add(alias)
            return nil
        }
        do {
            // The basic resolver takes every scalar as the text it is.
            let parser = try Parser(yaml: source.text, resolver: .basic, encoding: .utf8)
            let node = try parser.nextRoot() ?? Node.mapping(.init([]))
            if let second = try parser.nextRoot() {
                faults.add(
                    source.problem(
                        line: second.mark?.line ?? 1, column: second.mark?.column ?? 1,
                        "a file holds one document", hint: "remove the line \"---\" and what follows"))
            }
            return Field(node: node, path: "", source: source, faults: faults)
        } catch let error as YamlError {
            faults.add(problem(for: error))
        } catch {
            faults.add(source.problem(line: 1, column: 1, "can't be read as YAML: \(error)"))
        }
        return nil
    }

    private func problem(for error: YamlError) -> Problem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let line = min(mark.line, source.lines.count)
            let mistake = SyntaxMistake(
                source: source, line: line, column: mark.column, problem: problem,
                start: context.map { ($0.mark.line, $0.mark.column) })
            let lead = context.map { $0.text + ": " } ?? ""
            return mistake.found
                ?? source.problem(line: line, column: mark.column, "not YAML: \(lead)\(problem)")
        case .reader(let problem, let offset, _, _):
            let place = source.place(ofCharacter: offset ?? 0)
            return source.problem(line: place.line, column: place.column, "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            return twice(names.first ?? "", first: context.mark)
        default:
            return source.problem(line: 1, column: 1, "can't be read as YAML")
        }
    }

    /// Points at the second of two equal keys; YAML's own error only knows where the first is.
    private func twice(_ name: String, first: Mark) -> Problem {
        let place = second(name, after: first)
        return source.problem(
            line: place ?? first.line, column: first.column, width: name.count,
            "\"\(name)\" is given twice"
                + (place == nil ? "" : "; the first is at \(source.name):\(first.line)"),
            hint: first.column == 1
                ? "write the entries of both below one \(name):" : "give one another name, or remove it")
    }

    /// The line of a key like that of `first`, as deep as it and in the same map.
    private func second(_ name: String, after first: Mark) -> Int? {
        for number in source.lines.indices.dropFirst(first.line) {
            let line = source.lines[number].unicodeScalars
            let depth = line.prefix { $0 == " " }.count
            guard depth < line.count, line.dropFirst(depth).first != "#" else { continue }
            if depth < first.column - 1 { return nil }
            guard depth == first.column - 1 else { continue }
            let rest = String(line.dropFirst(depth))
            if ["\(name):", "\"\(name)\":", "'\(name)':"].contains(where: rest.hasPrefix) {
                return number + 1
            }
        }
        return nil
    }
}

/// Finds texts whose aliases would keep the YAML parser busy for ever.
///
/// The parser compares the keys of a map. A key that is a collection is compared with all it holds, and
/// through aliases of aliases that can be billions of elements. Values are bounded where they are read.
enum AliasGuard {
    /// So few aliases can't name very much, however they are nested.
    private static let harmlessAliases = 16

    /// The fault of a text with many aliases and a key that is no plain text.
    static func fault(in source: SourceText) -> Problem? {
        guard source.text.utf8.contains(UInt8(ascii: "&")), source.text.utf8.contains(UInt8(ascii: "*"))
        else {
            return nil
        }
        var anchors: Set<String> = []
        var aliases: [String] = []
        var key: (line: Int, column: Int)?
        for (number, line) in source.lines.enumerated() {
            let scalars = Array(line.unicodeScalars)
            for (index, scalar) in scalars.enumerated() {
                if scalar == "&" { anchors.insert(name(scalars, index + 1)) }
                if scalar == "*" { aliases.append(name(scalars, index + 1)) }
                if key == nil, isCollectionKey(scalars, index) { key = (number, index) }
            }
        }
        guard let key, aliases.count(where: { !$0.isEmpty && anchors.contains($0) }) > harmlessAliases else {
            return nil
        }
        return source.problem(
            line: key.line + 1, column: key.column + 1,
            "aliases and a key that is not plain text can't be used in one file",
            hint: "write the key out")
    }

    private static func name(_ line: [Unicode.Scalar], _ start: Int) -> String {
        let letters = line[min(start, line.count)...].prefix {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-"
        }
        return String(String.UnicodeScalarView(letters))
    }

    /// Whether a key that may be a collection begins or ends here.
    private static func isCollectionKey(_ line: [Unicode.Scalar], _ index: Int) -> Bool {
        switch line[index] {
        case "*": isKey(line, index + 1 + name(line, index + 1).unicodeScalars.count)
        case "]", "}": isKey(line, index + 1)
        case "?": begins(line, index + 1, ["[", "{", "*", "&", "!", " "])
        case "{": begins(line, index + 1, ["[", "{", "*"])
        default: false
        }
    }

    /// Whether a colon follows after blanks.
    private static func isKey(_ line: [Unicode.Scalar], _ start: Int) -> Bool {
        rest(line, start).first == ":"
    }

    /// Whether one of `scalars` follows after blanks, or the line ends.
    private static func begins(_ line: [Unicode.Scalar], _ start: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        if scalars.contains(" "), line.indices.contains(start), line[start] == " " { return true }
        return rest(line, start).first.map(scalars.contains) ?? true
    }

    private static func rest(_ line: [Unicode.Scalar], _ start: Int) -> ArraySlice<Unicode.Scalar> {
        line[min(start, line.count)...].drop { $0 == " " || $0 == "\t" }
    }
}
