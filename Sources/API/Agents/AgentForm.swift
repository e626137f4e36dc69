import Timeline
import Tracking

// Forms of MCP servers (elicitation): one question for each field, in the order of the form.

/// One field of a form: what it is asked as, and what an answer becomes.
///
/// - Source: Model Context Protocol, "Elicitation", requested schemas: flat objects of strings, numbers, booleans and enums.
struct ElicitedField: Hashable, Sendable {
    /// What kind of value it takes.
    enum Kind: Hashable, Sendable {
        case flag
        case text(least: Int, most: Int, TextShape)
        case number(isWhole: Bool, least: Double?, most: Double?)
        /// The labels that people choose from, with the values.
        case choice([Choice])
        /// Several of them, separated by commas.
        case choices([Choice], least: Int, most: Int)
    }

    /// A label with its value.
    struct Choice: Hashable, Sendable {
        var label: String
        var value: JSON
    }

    var name: String
    /// What people call it; nil: nothing but its name.
    var title: String?
    var about: String?
    var isRequired: Bool
    var kind: Kind

    static let skip = "skip"
    private static let longestText = 16_000

    /// A field that can be asked; nil: it is of a kind that is not known.
    init?(_ member: JSON.Member, isRequired: Bool) {
        let schema = member.value
        (name, self.isRequired) = (member.name, isRequired)
        (title, about) = (schema["title"]?.text, schema["description"]?.text)
        if let choices = Self.choices(schema) {
            kind = .choice(choices)
            return
        }
        switch schema["type"]?.text {
        case "boolean": kind = .flag
        case "string":
            kind = .text(
                least: schema["minLength"]?.int ?? 0, most: schema["maxLength"]?.int ?? Self.longestText,
                TextShape(schema))
        case "number", "integer":
            kind = .number(
                isWhole: schema["type"]?.text == "integer", least: schema["minimum"]?.double,
                most: schema["maximum"]?.double)
        case "array":
            guard let choices = schema["items"].flatMap(Self.choices) else { return nil }
            kind = .choices(
                choices, least: schema["minItems"]?.int ?? 0, most: schema["maxItems"]?.int ?? choices.count)
        default: return nil
        }
    }

    /// The choices of an enum, titled or not; nil: it is none, or has labels that can't be choices.
    private static func choices(_ schema: JSON) -> [Choice]? {
        let titled = schema["oneOf"]?.elements ?? schema["anyOf"]?.elements ?? []
        var choices: [Choice]
        if !titled.isEmpty {
            choices = titled.compactMap { one in
                one["const"].map { Choice(label: one["title"]?.text ?? $0.text ?? "", value: $0) }
            }
            guard choices.count == titled.count else { return nil }
        } else {
            guard let values = schema["enum"]?.elements else { return nil }
            let names = schema["enumNames"]?.elements ?? values
            guard names.count == values.count else { return nil }
            choices = zip(names, values).map { Choice(label: $0.text ?? "", value: $1) }
        }
        return AgentHook.choices(choices.map(\.label)) == nil ? nil : choices
    }

    /// Whether it may be left out of the form; a form of one field is declined as a whole instead.
    func isOptional(in form: [ElicitedField]) -> Bool { !isRequired && form.count > 1 }

    /// The choices that a person is offered.
    var labels: [String] {
        switch kind {
        case .flag: ["yes", "no"]
        case .choice(let choices), .choices(let choices, _, _): choices.map(\.label)
        case .text, .number: []
        }
    }

    var takesText: Bool {
        switch kind {
        case .flag, .choice: false
        case .text, .number, .choices: true
        }
    }

    /// What an answer means.
    ///
    /// - Throws: why it is none, in a sentence without a full stop.
    func value(of answer: String) throws(FormFault) -> JSON {
        let shown = CleanText.line(answer, limit: 60)
        switch kind {
        case .flag: return .bool(answer == "yes")
        case .text(let least, let most, let shape):
            guard answer.count >= least else {
                throw FormFault("\"\(shown)\" is too short: it has at least \(least) characters")
            }
            guard answer.count <= most else { throw FormFault("it has at most \(most) characters") }
            if let fault = shape.fault(of: answer) { throw FormFault("\"\(shown)\" \(fault)") }
            return .string(answer)
        case .number(let isWhole, let least, let most):
            let number = isWhole ? Int(answer).map { JSON.int($0) } : Self.number(answer)
            guard let number, let amount = number.double ?? number.int.map(Double.init) else {
                throw FormFault("\"\(shown)\" is no \(isWhole ? "whole " : "")number")
            }
            if let least, amount < least { throw FormFault("\(shown) is less than \(Self.text(least))") }
            if let most, amount > most { throw FormFault("\(shown) is more than \(Self.text(most))") }
            return number
        case .choice(let choices): return try Self.value(of: answer, among: choices)
        case .choices(let choices, let least, let most):
            var values: [JSON] = []
            for word in answer.split(separator: ",") {
                let value = try Self.value(of: CleanText.line(String(word), limit: 60), among: choices)
                if !values.contains(value) { values.append(value) }
            }
            guard values.count >= least, values.count <= most else {
                throw FormFault("choose \(least == most ? "\(least)" : "\(least) to \(most)") of them")
            }
            return .array(values)
        }
    }

    private static func value(of answer: String, among choices: [Choice]) throws(FormFault) -> JSON {
        let known = choices.first { $0.label.lowercased() == answer.lowercased() }
        guard let known else {
            throw FormFault("\"\(CleanText.line(answer, limit: 60))\" is not one of the choices")
        }
        return known.value
    }

    private static func number(_ text: String) -> JSON? {
        guard let number = Double(text), number.isFinite else { return nil }
        return Int(text).map { JSON.int($0) } ?? .double(number)
    }

    private static func text(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }
}

/// The format and the pattern that a text has to match.
///
/// - Source: Model Context Protocol, "Elicitation", StringSchema: `format` is email, uri, date or date-time; `pattern` is
///   that of JSON Schema.
struct TextShape: Hashable, Sendable {
    private var format: String?
    private var pattern: LinearPattern?
    private var written = ""

    /// The shape that a string's schema requires; what is not supported here is left to the server that asks.
    init(_ schema: JSON) {
        format = schema["format"]?.text
        guard let text = schema["pattern"]?.text else { return }
        (pattern, written) = (try? LinearPattern(text), text)
    }

    /// Why the text does not match, as the end of a sentence about it; nil: it does.
    func fault(of text: String) -> String? {
        switch format {
        case "email" where !Self.isEmail(text): "is no mail address, such as ops@example.org"
        case "uri" where !Self.isAddress(text): "is no address, such as https://example.org/a"
        case "date" where !Self.isDate(text): "is no date, such as 2026-03-29"
        case "date-time" where (try? Moment(iso8601: text)) == nil:
            "is no date with a time and an offset, such as 2026-03-29T03:00:00Z"
        default:
            pattern.map { $0.isFound(in: text) } == false
                ? "does not match \(CleanText.line(written, limit: 100))" : nil
        }
    }

    private static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && !text.contains(where: \.isWhitespace)
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    private static func isAddress(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter
        else {
            return false
        }
        let rest = text[text.index(after: colon)...].drop { $0 == "/" }
        return !rest.isEmpty && !text.contains(where: \.isWhitespace)
            && text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
    }

    private static func isDate(_ text: String) -> Bool {
        text.utf8.count == 10 && (try? Moment(iso8601: text + "T00:00:00Z")) != nil
    }
}

/// Why an answer does not fit its field.
package struct FormFault: Error, Hashable, Sendable {
    /// One sentence without a full stop.
    package var sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

extension AgentHook {
    static let decline = "decline"
    static let cancel = "cancel"

    /// The fields of the form; nil: one of them can't be asked, or they are too many.
    private var fields: [ElicitedField]? {
        guard case .members(let members)? = payload["requested_schema"]?["properties"] else {
            return payload["requested_schema"] == nil ? [] : nil
        }
        guard members.count <= Self.mostQuestions else { return nil }
        let required = Set((payload["requested_schema"]?["required"]?.elements ?? []).compactMap(\.text))
        let fields = members.compactMap { ElicitedField($0, isRequired: required.contains($0.name)) }
        return fields.count == members.count ? fields : nil
    }

    /// One question for each field; of a form without any, whether it is accepted.
    var elicitation: [AgentQuestion]? {
        guard payload["mode"]?.text != "url", let message = payload["message"]?.text, let fields else {
            return nil
        }
        let lead = (payload["mcp_server_name"]?.text.map { "\($0): " } ?? "") + message
        guard !fields.isEmpty else {
            return [question(lead, choices: ["accept"])]
        }
        let questions = fields.enumerated().map { place, field in
            var lines = [lead]
            if fields.count > 1 {
                lines.append("\(place + 1) of \(fields.count): \(field.title ?? field.name)")
            }
            if fields.count == 1, let title = field.title { lines.append(title) }
            if let about = field.about { lines.append(about) }
            if case .choices(let choices, _, _) = field.kind {
                let pair = choices.prefix(2).map(\.label).joined(separator: ",")
                lines.append("(several are possible, as \(pair))")
            }
            return question(
                lines.joined(separator: "\n"),
                choices: field.labels + (field.isOptional(in: fields) ? [ElicitedField.skip] : []),
                takesText: field.takesText)
        }
        let isAskable = questions.allSatisfy {
            $0.choices.count <= ReportedQuestion.mostChoices
                && $0.text.count <= ReportedQuestion.longestText
        }
        let areClear = questions.allSatisfy {
            Set($0.choices.map { $0.lowercased() }).count == $0.choices.count
        }
        return isAskable && areClear ? questions : nil
    }

    private func question(_ text: String, choices: [String], takesText: Bool = false) -> AgentQuestion {
        var question = AgentQuestion(
            text: text, choices: choices + [Self.decline, Self.cancel], takesText: takesText)
        question.ends = [Self.decline, Self.cancel]
        return question
    }

    /// What is wrong with the answer to the question at this place; nil: nothing.
    package func fault(of answer: String, at place: Int) -> FormFault? {
        guard payload["hook_event_name"]?.text == "Elicitation", let fields, fields.indices.contains(place),
            ![Self.decline, Self.cancel].contains(answer)
        else { return nil }
        let field = fields[place]
        if answer == ElicitedField.skip, field.isOptional(in: fields) { return nil }
        do throws(FormFault) {
            _ = try field.value(of: answer)
            return nil
        } catch {
            return FormFault("\(CleanText.line(field.title ?? field.name, limit: 100)): \(error.sentence)")
        }
    }

    func elicited(_ answers: [String]) -> JSON? {
        func end(_ action: String, _ content: [JSON.Member] = []) -> JSON {
            Self.specific(
                "Elicitation", [.init("action", .string(action)), .init("content", .members(content))])
        }
        if let last = answers.last, [Self.decline, Self.cancel].contains(last) { return end(last) }
        guard let fields else { return nil }
        var content: [JSON.Member] = []
        for (field, answer) in zip(fields, answers) {
            if answer == ElicitedField.skip, field.isOptional(in: fields) { continue }
            guard let value = try? field.value(of: answer) else { return nil }
            content.append(.init(field.name, value))
        }
        return answers.count == max(1, fields.count) ? end("accept", content) : nil
    }
}

/// The questions of one call of an agent, asked one after another; an answer that does not fit is asked for again.
package struct AgentAnswers: Sendable {
    private let hook: AgentHook
    private let questions: [AgentQuestion]
    private var fault: FormFault?
    private var isOver = false
    /// What was answered, in the order of the questions.
    package private(set) var given: [String] = []

    /// Nothing was asked yet.
    package init(_ hook: AgentHook, _ questions: [AgentQuestion]) {
        (self.hook, self.questions) = (hook, questions)
    }

    /// What is to be asked next; nil: nothing is left.
    package var next: AgentQuestion? {
        guard !isOver, given.count < questions.count else { return nil }
        var question = questions[given.count]
        if let fault {
            // What is cut off a very long question was shown before.
            let text = "Not accepted: \(fault.sentence).\n" + question.text
            question.text = String(text.prefix(ReportedQuestion.longestText))
        }
        return question
    }

    /// A person answered what is next.
    package mutating func add(_ answer: String) {
        guard given.count < questions.count else { return }
        fault = hook.fault(of: answer, at: given.count)
        if fault != nil { return }
        isOver = questions[given.count].ends.contains(answer)
        given.append(answer)
    }
}
