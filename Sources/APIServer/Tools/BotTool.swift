import API
import Cron
import Host
package import Prompting
import Timeline
import Tracking

/// A tool: what a bot reads of it, and what happens when it is called.
package struct BotTool: Sendable {
    /// The name it is called by, and allowed by in the configuration.
    package let name: String
    /// What it does and when to use it, for the bot.
    let about: String
    /// Its arguments: the schema and the check of a call are made of them.
    let parameters: [ToolParameter]
    /// Whether a call that is made again, after a crash, does nothing twice.
    let isRepeatable: Bool
    /// Why it can't be used by the bot as that is configured; nil: it can.
    let obstacle: @Sendable (ToolUser) -> String?
    /// Performs a call whose arguments are as described; what it throws is a sentence for the bot.
    let run: @Sendable (ToolRequest) async throws(APIError) -> String

    /// A tool that every bot can use, unless an `obstacle` is given.
    init(
        _ name: String, _ about: String, _ parameters: [ToolParameter] = [], isRepeatable: Bool = false,
        obstacle: @escaping @Sendable (ToolUser) -> String? = { _ in nil },
        run: @escaping @Sendable (ToolRequest) async throws(APIError) -> String
    ) {
        self.name = name
        self.about = about
        self.parameters = parameters
        self.isRepeatable = isRepeatable
        self.obstacle = obstacle
        self.run = run
    }

    /// What a provider is sent of it.
    package var offer: Tool {
        Tool(name: name, about: about, arguments: ToolParameter.schema(of: parameters))
    }

    /// The arguments of a call, each as described.
    ///
    /// - Throws: the first fault, in a sentence that the bot can act on.
    func read(_ arguments: JSON) throws(APIError) -> ToolArguments {
        guard case .members = arguments else {
            throw APIError(.badValue, "the arguments are not an object")
        }
        return try ToolArguments(arguments, of: parameters)
    }
}

/// An argument of a tool.
package struct ToolParameter: Sendable {
    /// What its values are.
    package enum Form: Sendable {
        /// A text of at most so many bytes; not empty.
        case text(limit: Int)
        /// A whole number.
        case whole(ClosedRange<Int>)
        /// A number.
        case number(ClosedRange<Double>)
        /// One of these words.
        case choice([String])
        /// A list of 1 to `most` texts.
        case texts(most: Int, limit: Int)
        /// A list of 1 to `most` objects with these members.
        case records([ToolParameter], most: Int)
    }

    let name: String
    let form: Form
    /// What it is for, for the bot.
    let about: String
    let isRequired: Bool

    /// An argument that may be left out, unless it is required.
    package init(_ name: String, _ form: Form, _ about: String, isRequired: Bool = false) {
        self.name = name
        self.form = form
        self.about = about
        self.isRequired = isRequired
    }

    /// The schema of an object with these members.
    static func schema(of parameters: [ToolParameter]) -> JSON {
        let properties = parameters.map { JSON.Member($0.name, $0.schema) }
        let required = parameters.filter(\.isRequired).map { JSON.string($0.name) }
        return .object([
            "type": .string("object"), "properties": .members(properties),
            "required": required.isEmpty ? nil : .array(required), "additionalProperties": .bool(false),
        ])
    }

    /// Its part of the schema.
    var schema: JSON {
        switch form {
        case .text(let limit):
            .object([
                "type": .string("string"), "description": .string(about), "minLength": .int(1),
                "maxLength": .int(limit),
            ])
        case .whole(let range):
            .object([
                "type": .string("integer"), "description": .string(about),
                "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound),
            ])
        case .number(let range):
            .object([
                "type": .string("number"), "description": .string(about),
                "minimum": .double(range.lowerBound), "maximum": .double(range.upperBound),
            ])
        case .choice(let words):
            .object([
                "type": .string("string"), "description": .string(about),
                "enum": .array(words.map { .string($0) }),
            ])
        case .texts(let most, let limit):
            list(
                of: .object(["type": .string("string"), "minLength": .int(1), "maxLength": .int(limit)]),
                most: most)
        case .records(let parameters, let most): list(of: Self.schema(of: parameters), most: most)
        }
    }
}

extension ToolParameter {
    private func list(of elements: JSON, most: Int) -> JSON {
        .object([
            "type": .string("array"), "description": .string(about), "items": elements, "minItems": .int(1),
            "maxItems": .int(most),
        ])
    }
}

extension ToolParameter.Form {
    /// What is wrong with a value; nil: nothing.
    func fault(in value: JSON) -> String? {
        switch self {
        case .text(let limit):
            guard let text = value.text else { return "is not a text" }
            if text.utf8.contains(0) { return "holds a zero byte" }
            if text.utf8.count > limit { return "is longer than \(limit) bytes" }
            return text.allSatisfy(\.isWhitespace) ? "is empty" : nil
        case .whole(let range):
            let isGood = value.int.map(range.contains) ?? false
            return isGood ? nil : "is not a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            let isGood = value.double.map(range.contains) ?? false
            return isGood ? nil : "is not a number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words):
            let isGood = value.text.map(words.contains) ?? false
            return isGood ? nil : "is none of: \(words.joined(separator: ", "))"
        case .texts(let most, let limit):
            return Self.fault(in: value, most: most) { Self.text(limit: limit).fault(in: $0) }
        case .records(let parameters, let most):
            return Self.fault(in: value, most: most) { element in
                do throws(APIError) {
                    _ = try ToolArguments(element, of: parameters)
                    return nil
                } catch {
                    return error.sentence
                }
            }
        }
    }

    private static func fault(in list: JSON, most: Int, _ fault: (JSON) -> String?) -> String? {
        guard case .array(let elements) = list, (1...most).contains(elements.count) else {
            return "is not a list of 1 to \(most)"
        }
        for (number, element) in elements.enumerated() {
            if let fault = fault(element) { return "number \(number + 1): \(fault)" }
        }
        return nil
    }
}

/// The arguments of a call, each of the form that its tool describes.
package struct ToolArguments: Sendable {
    let values: [String: JSON]

    /// Reads an object.
    ///
    /// - Throws: the first fault, in a sentence that the bot can act on.
    init(_ object: JSON, of parameters: [ToolParameter]) throws(APIError) {
        guard case .members(let members) = object else { throw APIError(.badValue, "is not an object") }
        var values: [String: JSON] = [:]
        for member in members where member.value != .null {
            guard let parameter = parameters.first(where: { $0.name == member.name }) else {
                let names = parameters.map(\.name)
                let known =
                    names.isEmpty ? "It takes none." : "Its arguments: \(names.joined(separator: ", "))."
                throw APIError(
                    .badValue, "there is no argument \"\(CleanText.line(member.name, limit: 60))\"",
                    hint: NearestName.hint(member.name, among: names) ?? known)
            }
            guard values[member.name] == nil else {
                throw APIError(.badValue, "\(member.name): is given twice")
            }
            if let fault = parameter.form.fault(in: member.value) {
                throw APIError(.badValue, "\(member.name): \(fault)")
            }
            values[member.name] = member.value
        }
        for parameter in parameters where parameter.isRequired && values[parameter.name] == nil {
            throw APIError(.badValue, "\(parameter.name): is missing")
        }
        self.values = values
    }

    /// The text or word of that name; nil: it was left out.
    package func text(_ name: String) -> String? { values[name]?.text }

    /// The whole number of that name; nil: it was left out.
    package func whole(_ name: String) -> Int? { values[name]?.int }

    /// The number of that name; nil: it was left out.
    package func number(_ name: String) -> Double? { values[name]?.double }

    /// The texts of that name; nil: it was left out.
    package func texts(_ name: String) -> [String]? { values[name]?.elements.compactMap(\.text) }

    /// The objects of that name; none where it was left out.
    package func records(_ name: String) -> [ToolArguments] {
        (values[name]?.elements ?? []).map { element in
            guard case .members(let members) = element else { return ToolArguments(values: [:]) }
            return ToolArguments(
                values: members.reduce(into: [:]) { $0[$1.name] = $1.value == .null ? nil : $1.value })
        }
    }

    private init(values: [String: JSON]) { self.values = values }
}

/// The tools that bots can be allowed, each once: the configuration, the offers to providers and MCP are made of them.
///
/// To add one, see <doc:AddATool>.
package struct ToolTable: Sendable {
    /// The tools, in the order in which they are listed.
    package let tools: [BotTool]

    /// A table of these tools.
    package init(_ tools: [BotTool]) { self.tools = tools }

    /// All there are: a line for each family.
    package static let standard = ToolTable(
        MessageTools.all + TaskTools.all + RunTools.all + WebTools.all + MemoryTools.all + FileTools.all
            + TeamTools.all)

    /// The tool that may be granted for single jobs, as `run_job:NAME`.
    package static let runJob = "run_job"
    /// A grant among the names of tools: the tasks of other bots are not refused.
    static let allTasks = "all_tasks"

    /// What `bots.NAME.tools` may name.
    ///
    /// A bot has ``TeamTools`` by its team alone.
    package var names: [String] { tools.map(\.name).filter { $0 != TeamTools.name } + [Self.allTasks] }

    /// The tool of that name; nil: there is none.
    package subscript(name: String) -> BotTool? { tools.first { $0.name == name } }
}

/// The calls of tools that an attempt made, beside its output: a line of JSON for each.
package struct ToolLog: Sendable {
    /// One call.
    struct Entry {
        private let json: JSON

        /// How many bytes are kept of the arguments, and as many of the result.
        static let limit = 4096

        init(_ call: ToolCall, _ answer: ToolAnswer, attempt: Int, at start: Moment, elapsed: Duration) {
            let arguments = String(decoding: call.arguments.bytes, as: UTF8.self)
            json = .object([
                "at": .string(start.iso8601), "attempt": .int(attempt),
                "tool": .string(CleanText.line(call.name, limit: 60)),
                "arguments": .string(arguments.cut(toBytes: Self.limit)),
                "result": .string(answer.text.cut(toBytes: Self.limit)),
                "isError": answer.isError ? .bool(true) : nil, "elapsedMs": .int(elapsed.milliseconds),
            ])
        }

        fileprivate var line: [UInt8] { json.bytes + [0x0A] }
    }

    /// The most bytes of one log: what comes then is not recorded.
    private static let limit = 1 << 20
    private let path: String

    /// The log of the attempt whose output is at this path.
    package init(besides output: String) { path = output + ".calls" }

    /// Records a call.
    func append(_ entry: Entry) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        try SmallFile.append(entry.line, to: path, limit: Self.limit)
    }

    /// The calls, oldest first; none where none were recorded.
    func calls() -> [WireToolCall] {
        guard let bytes = try? SmallFile.read(path, limit: Self.limit) else { return [] }
        return bytes.split(separator: 0x0A).compactMap { try? WireCoding.decode(WireToolCall.self, from: $0) }
    }

    /// Removes the log; nothing happens where there is none.
    package func remove() { SmallFile.remove(path) }
}
