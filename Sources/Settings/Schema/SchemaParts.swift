import Delivery
import Ledger
import Tracking

/// Schemas of what stands in the file.
///
/// A scalar is read as the text it is written as, so where text is wanted a number or a truth of YAML is right as well.
enum SchemaParts {
    static let scalar = JSON.array(["string", "number", "boolean"].map { .string($0) })

    /// Text that is not empty.
    static func word(_ doc: String? = nil) -> JSON {
        .object(["type": scalar, "minLength": .int(1), "description": doc.map { .string($0) }])
    }

    /// Text of a pattern.
    static func text(_ pattern: String) -> JSON {
        .object(["type": .string("string"), "pattern": .string(pattern)])
    }

    /// One of a few words.
    static func words(_ words: [String]) -> JSON { .object(["enum": .array(words.map { .string($0) })]) }

    /// An object with no other members.
    static func object(_ properties: [JSON.Member], required: [String] = []) -> JSON {
        .object([
            "type": .string("object"), "additionalProperties": .bool(false),
            "properties": .members(properties),
            "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
        ])
    }

    /// Hours of the day, or a list of them.
    static let hours = JSON.object([
        "anyOf": .array([
            text(hoursPattern), list(of: text(hoursPattern), least: 1),
        ])
    ])
    private static let hoursPattern = #"^([A-Za-z,-]+ )?\d{1,2}:\d\d-\d{1,2}:\d\d$"#

    /// An amount of money.
    static let amount = JSON.object([
        "type": .array([.string("number"), .string("string")]), "minimum": .int(0),
    ])

    /// An object with amounts of money, and with others that may be left out.
    static func amounts(_ names: [String], optional: [JSON.Member] = []) -> JSON {
        object(names.map { .init($0, amount) } + optional, required: names)
    }

    /// A map by name, or nothing.
    static func map(of value: JSON, _ doc: String, not reserved: [String] = []) -> JSON {
        let name = JSON.object([
            "pattern": .string("^[a-z0-9][a-z0-9._-]{0,62}$"),
            "not": reserved.isEmpty ? nil : words(reserved),
        ])
        return .object([
            "type": orNothing("object"), "propertyNames": name, "additionalProperties": value,
            "description": .string(doc),
        ])
    }

    /// A list; without a `least` length also nothing.
    static func list(of element: JSON, _ doc: String? = nil, least: Int? = nil) -> JSON {
        .object([
            "type": least == nil ? orNothing("array") : .string("array"), "items": element,
            "minItems": least.map { .int($0) }, "description": doc.map { .string($0) },
        ])
    }

    /// A type, or nothing behind the key.
    static func orNothing(_ type: String) -> JSON { .array([.string(type), .string("null")]) }

    static let duration = #"^([0-9]+(w|d|h|m|s|ms|us))+$"#
}

extension JSON {
    /// The schema with a sentence for people.
    func described(_ doc: String) -> JSON {
        var schema = self
        schema["description"] = .string(doc)
        return schema
    }
}

extension JobField {
    /// The schema of its value in a file.
    var schema: JSON {
        var schema = form.schema.described(doc)
        if isRemovable, form.isDuration {
            schema = JSON.object(["anyOf": .array([form.schema, SchemaParts.words(["none"])])]).described(doc)
        }
        switch (form, standard) {
        case (.duration, let value?): schema["default"] = .string(form.words(value))
        case (.number, let value?), (.choice, let value?), (.flag, let value?): schema["default"] = value
        default: break
        }
        return schema
    }
}

extension JobForm {
    /// The schema of a text, list or map in a file.
    var schema: JSON {
        switch self {
        case .flag:
            return .object(["enum": .array([.bool(true), .bool(false), .string("true"), .string("false")])])
        case .number(let limits):
            return Self.number("^[-+]?[0-9]+$", least: limits.lowerBound, most: limits.upperBound)
        case .duration, .interval, .seconds: return SchemaParts.text(SchemaParts.duration)
        case .text(let longest):
            var schema = SchemaParts.word()
            if longest < .max { schema["maxLength"] = .int(longest) }
            return schema
        case .choice(let words): return SchemaParts.words(words)
        case .choices(let words):
            let list = SchemaParts.list(of: SchemaParts.words(words))
            return .object(["anyOf": .array([list, SchemaParts.words(words + ["none"])])])
        case .icon: return SchemaParts.word()
        case .botName:
            return .object(["type": SchemaParts.scalar, "pattern": .string("^[a-z0-9][a-z0-9._-]{0,62}$")])
        case .path: return SchemaParts.text("^/")
        case .mask: return Self.number("^[0-7]{1,4}$", least: 0, most: 777)
        case .size(let least): return Self.number("^[0-9]+[KMGT]?$", least: least)
        case .words: return SchemaParts.list(of: .object(["type": SchemaParts.scalar]), least: 1)
        case .list:
            let words = SchemaParts.list(of: SchemaParts.word(), least: 1)
            return .object(["anyOf": .array([SchemaParts.word(), words])])
        case .variables(let orFiles): return Self.variables(orFiles: orFiles)
        case .input:
            let text = SchemaParts.object(
                [.init("text", .object(["type": SchemaParts.scalar]))], required: ["text"])
            return .object(["anyOf": .array([SchemaParts.words(["none"]), text, Self.file])])
        }
    }

    /// A number, or a text of this form.
    private static func number(_ pattern: String, least: Int, most: Int? = nil) -> JSON {
        var schema = JSON.object([
            "type": .array([.string("integer"), .string("string")]), "pattern": .string(pattern),
            "minimum": .int(least),
        ])
        if let most { schema["maximum"] = .int(most) }
        return schema
    }

    private static func variables(orFiles: Bool) -> JSON {
        let text = JSON.object(["type": .array(SchemaParts.scalar.elements + [.string("null")])])
        let value = orFiles ? JSON.object(["anyOf": .array([text, file])]) : text
        return .object([
            "type": SchemaParts.orNothing("object"),
            "propertyNames": .object(["pattern": .string("^[^=]+$")]),
            "additionalProperties": value,
        ])
    }

    private static var file: JSON {
        SchemaParts.object([.init("file", SchemaParts.text("^/"))], required: ["file"])
    }
}

extension FormField.Shape {
    /// The schema of a setting's value.
    var schema: JSON {
        switch self {
        case .word: return SchemaParts.word()
        case .words: return JobForm.words.schema
        case .list: return JobForm.list.schema
        case .address: return SchemaParts.text(#"^[Hh][Tt][Tt][Pp][Ss]?://[^@\s#]+$"#)
        case .mailServer: return SchemaParts.text(#"^[Ss][Mm][Tt][Pp][Ss]?://[^@\s#/]+/?$"#)
        case .duration: return SchemaParts.text(SchemaParts.duration)
        case .exceptions: return SchemaParts.list(of: SchemaParts.word())
        case .secrets:
            let places = ["file", "credential", "env", "service"].map { key in
                SchemaParts.object([.init(key, SchemaParts.word())], required: [key])
            }
            let one = JSON.object(["anyOf": .array(places)])
            return .object(["anyOf": .array([one, SchemaParts.list(of: one, least: 1)])])
        }
    }
}
