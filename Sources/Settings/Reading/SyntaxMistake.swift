/// What a person meant where a text is not YAML: the usual mistakes, each with what to write instead.
///
/// YAML's own errors name what its scanner wanted, often a line too late. To add a mistake: a property that finds it,
/// in the order of ``found``.
struct SyntaxMistake {
    let source: SourceText
    /// Where YAML's error points, from 1.
    let line: Int
    let column: Int
    /// YAML's own words.
    let problem: String
    /// Where the part began in which the error was met; nil: nothing was open.
    let start: (line: Int, column: Int)?

    /// The mistake with its place; nil: it is none of those known here.
    var found: Problem? {
        tab ?? openQuote ?? unquotedMark ?? missingSpace ?? missingSpaceAfterDash ?? unquotedColon
            ?? deeper ?? misaligned ?? openBracket
    }

    // MARK: Blanks

    private var tab: Problem? {
        guard problem.contains("cannot start any token") else { return nil }
        let lead = scalars(line).prefix { $0 == " " || $0 == "\t" }
        guard let place = lead.firstIndex(of: "\t") else { return nil }
        return report(line, place, lead.count - place, "a tab indents this line", "indent with spaces")
    }

    /// `schedule:manual`: the error is met at the next colon, or at the next line.
    private var missingSpace: Problem? {
        guard isKeyExpected else { return nil }
        for number in [lineBefore(line), line].compactMap(\.self) {
            let text = scalars(number)
            let begin = content(number)
            let word = text[begin...].prefix {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_"
            }
            guard let first = word.first, first.properties.isAlphabetic, word.endIndex < text.endIndex,
                text[word.endIndex] == ":"
            else { continue }
            let rest = text[(word.endIndex + 1)...]
            guard let next = rest.first, next != " ", next != "/" else { continue }
            return report(
                number, begin, word.count + 1, Self.noSpace(after: Self.text(word) + ":"),
                "write \(Self.text(word)): \(Self.text(rest))")
        }
        return nil
    }

    /// `-hello`: in a list the error is met there, or at the next line.
    private var missingSpaceAfterDash: Problem? {
        guard isKeyExpected || problem.contains("did not find expected '-'") else { return nil }
        for number in [line, lineBefore(line)].compactMap(\.self) {
            let rest = scalars(number)[indent(number)...].dropFirst()
            guard scalars(number)[indent(number)...].first == "-", let next = rest.first, next != " ",
                next != "-"
            else { continue }
            return report(
                number, indent(number), 1, Self.noSpace(after: "-"), "write - \(Self.text(rest))")
        }
        return nil
    }

    /// The message for a mark that needs a space behind it.
    static func noSpace(after mark: String) -> String { "a space is missing after \"\(mark)\"" }

    private var isKeyExpected: Bool {
        ["mapping values are not allowed", "could not find expected ':'", "did not find expected key"]
            .contains { problem.contains($0) }
    }

    // MARK: Quotes

    /// A text that begins with a mark of YAML's own.
    private var unquotedMark: Problem? {
        guard problem.contains("cannot start any token") || problem.contains("alphabetic") else { return nil }
        let text = scalars(line)
        let place = [column - 2, column - 1].first { place in
            guard text.indices.contains(place), "*&@`%!".unicodeScalars.contains(text[place]) else {
                return false
            }
            let before = text[..<place].last { $0 != " " }
            return before.map { ":-[{,".unicodeScalars.contains($0) } ?? false
        }
        guard let place else { return nil }
        let value = self.value(from: place)
        if Self.text(value) == "*", isEvents(place) {
            return report(
                line, place, 1, "no \"*\" stands for all events",
                "name each, such as when: [failed, completed]")
        }
        return report(
            line, place, value.count, "text that begins with \"\(text[place])\" must be quoted",
            "write \(key(before: place))\(Self.quoted(Self.text(value)))")
    }

    /// Whether a place is in the list `when` of a route.
    private func isEvents(_ place: Int) -> Bool {
        let lead = Self.text(scalars(line)[..<place])
        let isAlone = lead.allSatisfy { " -[".contains($0) }
        let above = isAlone ? lineBefore(line).map { source.line($0) } ?? "" : ""
        return lead.contains("when:") || above.contains("when:")
    }

    /// `shell: echo note: done`.
    private var unquotedColon: Problem? {
        let text = scalars(line)
        guard problem.contains("mapping values are not allowed"),
            let colon = text.indices.first(where: { text[$0...].starts(with: [":", " "]) }),
            colon < column - 1,
            let place = text.indices.first(where: { $0 > colon && text[$0] != " " })
        else { return nil }
        let value = self.value(from: place)
        return report(
            line, place, value.count, "text that contains \": \" must be quoted",
            "write \(key(before: place))\(Self.quoted(Self.text(value)))")
    }

    /// A quote without its end in the same line, above the place where that was noticed.
    private var openQuote: Problem? {
        if start != nil, problem.contains("alphabetic") || problem.contains("cannot start") { return nil }
        var number: Int? = line
        for _ in 0..<20 {
            guard let current = number else { return nil }
            let text = scalars(current)
            for quote in ["\"", "'"] as [Unicode.Scalar] where text.count(where: { $0 == quote }) == 1 {
                guard let place = text.firstIndex(of: quote),
                    text[..<place].last(where: { $0 != " " }).map({ ":-[{,".unicodeScalars.contains($0) })
                        == true
                else { continue }
                return report(
                    current, place, text.count - place, "the quote that begins here has no end",
                    "add \(quote) where the text ends")
            }
            number = lineBefore(current)
        }
        return nil
    }

    // MARK: Depth

    /// A line below a value, as if the value were a map.
    private var deeper: Problem? {
        guard problem.contains("mapping values are not allowed"), let above = lineBefore(line),
            indent(line) > indent(above)
        else { return nil }
        return report(
            line, indent(line), width(line),
            "this line is indented deeper than line \(above), which has a value",
            "indent it with \(indent(above)) spaces, as line \(above)")
    }

    private var misaligned: Problem? {
        guard isKeyExpected, let above = lineBefore(line) else { return nil }
        var levels: [Int] = []
        for number in 1..<line where !isEmpty(number) {
            while let last = levels.last, last > indent(number) { levels.removeLast() }
            if levels.last != indent(number) { levels.append(indent(number)) }
        }
        guard !levels.contains(indent(line)) else { return nil }
        return report(
            line, indent(line), width(line), "the indentation of this line matches no line above",
            "indent it with \(indent(above)) spaces, as line \(above)")
    }

    private var openBracket: Problem? {
        guard problem.contains("did not find expected ','") else { return nil }
        let (opening, closing) = problem.contains("']'") ? ("[", "]") : ("{", "}")
        let place = start.map { " of line \($0.line)" } ?? ""
        return report(
            line, column - 1, 1, "a \",\" or \"\(closing)\" is missing before this",
            "close the \(opening)\(place), or put a comma between its entries")
    }

    // MARK: Lines

    private func report(_ line: Int, _ place: Int, _ width: Int, _ message: String, _ hint: String) -> Problem
    {
        source.problem(line: line, column: place + 1, width: width, message, hint: hint)
    }

    private func scalars(_ line: Int) -> [Unicode.Scalar] { Array(source.line(line).unicodeScalars) }

    private func indent(_ line: Int) -> Int { scalars(line).prefix { $0 == " " }.count }

    /// Where a line's text begins, behind the dash of a list.
    private func content(_ line: Int) -> Int {
        let rest = scalars(line)[indent(line)...]
        return rest.starts(with: ["-", " "]) ? rest.startIndex + 2 : rest.startIndex
    }

    /// How long a line's key is, or its first word.
    private func width(_ line: Int) -> Int {
        scalars(line)[indent(line)...].prefix { $0 != ":" && $0 != " " }.count
    }

    /// Whether a line is blank, or a comment.
    private func isEmpty(_ line: Int) -> Bool {
        scalars(line)[indent(line)...].first.map { $0 == "#" } ?? true
    }

    private func lineBefore(_ line: Int) -> Int? {
        (1..<max(1, line)).last { !isEmpty($0) }
    }

    /// The value that begins at a place of the line: without a comment, and without what ends a map or list in it.
    private func value(from place: Int) -> ArraySlice<Unicode.Scalar> {
        let text = scalars(line)
        let isInside = text[..<place].contains { $0 == "{" || $0 == "[" }
        var end = place
        while end < text.endIndex {
            if text[end...].starts(with: [" ", "#"]) { break }
            if isInside, text[end] == "}" || text[end] == "]" || text[end...].starts(with: [",", " "]) {
                break
            }
            end += 1
        }
        while end > place + 1, text[end - 1] == " " { end -= 1 }
        return text[place..<end]
    }

    /// `schedule: ` of a line with this key before a place; empty where there is none.
    private func key(before place: Int) -> String {
        let lead = scalars(line)[..<place]
        guard let colon = lead.lastIndex(of: ":"), lead[(colon + 1)...].allSatisfy({ $0 == " " }) else {
            return ""
        }
        let key = lead[..<colon].reversed().prefix { $0 != " " && $0 != "{" && $0 != "," }
        return Self.text(key.reversed()) + ": "
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    /// A text in the quotes that need no escape, where there are such.
    static func quoted(_ text: String) -> String {
        guard text.contains("\"") || text.contains("\\") else { return "\"\(text)\"" }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            + "'"
    }
}
