package import Tracking

/// A text with places for values: the part of Mustache that decides nothing but what is there.
///
/// `{{name}}` is a value, escaped for what the text is; `{{{name}}}` is the same as it is; `{{#name}}...{{/name}}` is there
/// once for each element of a list, or once for any other value that is not empty; `{{^name}}...{{/name}}` where there is
/// none; `{{! ... }}` never. Names lead into objects by dots, and `.` is the element.
///
/// - Source: mustache(5).
package struct Template: Hashable, Sendable {
    /// How values are written.
    package enum Escaping: Hashable, Sendable {
        /// Inside of the quotes of a JSON text.
        case json
        /// In a form: `application/x-www-form-urlencoded`.
        case form
        /// As they are.
        case none
    }

    /// Why a text is no template, with where that is, in bytes of the text.
    package struct Fault: Error, Hashable, Sendable {
        /// A sentence without a full stop.
        package let message: String
        /// What of the text it is about.
        package let range: Range<Int>
    }

    private indirect enum Node: Hashable, Sendable {
        case text(String)
        case value([Substring], isRaw: Bool)
        case section([Substring], isInverted: Bool, [Node])
    }

    /// A text that is longer is refused, in bytes.
    package static let longest = 16_384
    /// What comes out is cut there, in bytes: a list in a list in a list has no other end.
    private static let longestResult = 1 << 18
    private static let deepest = 16
    /// So many pieces, values and elements of sections are looked at; what is left then is left out.
    private static let mostSteps = 50_000

    private let nodes: [Node]
    private let escaping: Escaping

    /// Reads a template whose values are among `names`; what stands inside of a section may be any of its value's.
    /// - Throws: ``Fault`` for what does not pair, an empty tag, and a name that there is not.
    package init(_ text: String, escaping: Escaping, names: Set<String>) throws(Fault) {
        guard text.utf8.count <= Self.longest else {
            throw Fault(message: "it is longer than \(Self.longest) bytes", range: 0..<text.utf8.count)
        }
        self.escaping = escaping
        var reader = TemplateReader(text, names: names)
        nodes = try reader.read()
    }

    /// The text with these values in it.
    package func render(_ values: JSON) -> String {
        var filling = Filling()
        write(nodes, [values], into: &filling)
        return filling.text
    }

    /// What has come out so far, and how much was looked at for it: sections without a text have no other end.
    private struct Filling {
        var text = ""
        var steps = 0

        mutating func mayGoOn() -> Bool {
            steps += 1
            return steps <= Template.mostSteps && text.utf8.count < Template.longestResult
        }
    }

    private func write(_ nodes: [Node], _ stack: [JSON], into filling: inout Filling) {
        for node in nodes {
            guard filling.mayGoOn() else { return }
            switch node {
            case .text(let piece): filling.text += piece
            case .value(let path, let isRaw):
                let value = Self.text(Self.find(path, in: stack))
                filling.text += isRaw ? value : escaped(value)
            case .section(let path, let isInverted, let inner):
                let value = Self.find(path, in: stack)
                let isThere = Self.isThere(value)
                if isInverted {
                    if !isThere { write(inner, stack, into: &filling) }
                } else if isThere, let value {
                    let elements: [JSON] = if case .array(let elements) = value { elements } else { [value] }
                    for element in elements {
                        guard filling.mayGoOn() else { return }
                        write(inner, stack + [element], into: &filling)
                    }
                }
            }
        }
    }

    private static func find(_ path: [Substring], in stack: [JSON]) -> JSON? {
        guard let first = path.first else { return stack.last }
        let found = stack.reversed().lazy.compactMap { $0[String(first)] }.first
        return path.dropFirst().reduce(found) { $0?[String($1)] }
    }

    private static func isThere(_ value: JSON?) -> Bool {
        switch value {
        case nil, .null, .bool(false): false
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .bool, .number, .members: true
        }
    }

    private static func text(_ value: JSON?) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .number(let digits): digits
        case .array, .members: value.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        }
    }

    private func escaped(_ text: String) -> String {
        switch escaping {
        case .none: text
        case .json: String(String(decoding: JSON.string(text).bytes, as: UTF8.self).dropFirst().dropLast())
        case .form: PercentText.segment(text)
        }
    }

    /// Reads the tags of a text.
    private struct TemplateReader {
        let bytes: [UInt8]
        let names: Set<String>
        var place = 0

        init(_ text: String, names: Set<String>) {
            bytes = Array(text.utf8)
            self.names = names
        }

        mutating func read() throws(Fault) -> [Node] {
            try nodes(until: nil, depth: 0)
        }

        /// The nodes up to the end of the section of that name; nil: up to the end of the text.
        private mutating func nodes(
            until end: (name: String, range: Range<Int>)?, depth: Int
        ) throws(Fault) -> [Node] {
            var nodes: [Node] = []
            while true {
                let begin = place
                while place < bytes.count, !isMark("{{") { place += 1 }
                if place > begin {
                    nodes.append(.text(String(decoding: bytes[begin..<place], as: UTF8.self)))
                }
                guard place < bytes.count else {
                    if let end {
                        throw Fault(message: "the section \"\(end.name)\" has no end", range: end.range)
                    }
                    return nodes
                }
                let tag = try tag()
                switch tag.kind {
                case "!": continue
                case "/":
                    guard let end, end.name == tag.name else {
                        throw Fault(message: "no section \"\(tag.name)\" ends here", range: tag.range)
                    }
                    return nodes
                case "#", "^":
                    guard depth < Template.deepest else {
                        throw Fault(message: "sections are nested too deeply", range: tag.range)
                    }
                    let path = try path(tag, depth)
                    let inner = try self.nodes(until: (tag.name, tag.range), depth: depth + 1)
                    nodes.append(.section(path, isInverted: tag.kind == "^", inner))
                default: nodes.append(.value(try path(tag, depth), isRaw: tag.kind == "{"))
                }
            }
        }

        private func path(_ tag: Tag, _ depth: Int) throws(Fault) -> [Substring] {
            if tag.name == "." { return [] }
            let path = tag.name.split(separator: ".", omittingEmptySubsequences: false)
            guard path.allSatisfy({ !$0.isEmpty }), let first = path.first else {
                throw Fault(message: "\"\(tag.name)\" is no name", range: tag.range)
            }
            // Inside of a section a name may be one of its value's.
            guard depth > 0 || names.contains(String(first)) else {
                throw Fault(
                    message:
                        "there is no value \"\(tag.name)\"; there are \(names.sorted().joined(separator: ", "))",
                    range: tag.range)
            }
            return path
        }

        private struct Tag {
            /// `#`, `^`, `/`, `!`, `{`, or a blank for a value.
            var kind: Character
            var name: String
            var range: Range<Int>
        }

        private mutating func tag() throws(Fault) -> Tag {
            let begin = place
            place += 2
            let isRaw = place < bytes.count && bytes[place] == UInt8(ascii: "{")
            if isRaw { place += 1 }
            let start = place
            let close = isRaw ? "}}}" : "}}"
            while place < bytes.count, !isMark(close) { place += 1 }
            guard place < bytes.count else {
                throw Fault(message: "a tag has no end", range: begin..<bytes.count)
            }
            var text = String(decoding: bytes[start..<place], as: UTF8.self)[...]
            place += close.utf8.count
            var kind: Character = isRaw ? "{" : " "
            if !isRaw, let first = text.first, "#^/!&".contains(first) {
                kind = first == "&" ? "{" : first
                text = text.dropFirst()
            }
            while text.first?.isWhitespace == true { text.removeFirst() }
            while text.last?.isWhitespace == true { text.removeLast() }
            guard kind == "!" || !text.isEmpty else {
                throw Fault(message: "a tag is empty", range: begin..<place)
            }
            return Tag(kind: kind, name: String(text), range: begin..<place)
        }

        private func isMark(_ mark: String) -> Bool { bytes[place...].starts(with: mark.utf8) }
    }
}
