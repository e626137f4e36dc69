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
            let lead = context.map { $0.text + ": " } ?? ""
            return source.problem(
                line: min(mark.line, source.lines.count), column: mark.column, "not YAML: \(lead)\(problem)")
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
            "\"\(name)\" stands here a second time"
                + (place == nil ? "" : "; the first is at \(source.name):\(first.line)"),
            hint: "give one another name, or remove it")
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
