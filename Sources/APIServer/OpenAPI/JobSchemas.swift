package import API
import Ledger
package import Tracking

extension JobDraft: SchemaDescribed {
    /// An object with every field that a draft may hold.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let text = try book.schema(of: String.self)
        let schedule = JSON.Member("schedule", try book.schema(of: WireSchedule.self))
        let own = [JSON.Member("name", text), JSON.Member("origin", text), schedule]
        return book.define(
            "JobDraft",
            JobFields.standard.schema(with: own) { row in row.draft.map { JSON.Member($0, row.draftSchema) } }
        )
    }

    /// An empty draft.
    package static var sample: JobDraft { JobDraft() }
}

extension WirePolicies: SchemaDescribed {
    /// The policies of a job.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let offset = JSON.Member("spreadOffsetMs", try book.schema(of: Int64.self))
        return book.define(
            "Policies",
            JobFields.standard.schema(with: [offset]) { row in row.policy.map { JSON.Member($0, row.schema) }
            })
    }

    /// No policies.
    package static var sample: WirePolicies { WirePolicies(.members([])) }
}

extension JobFields {
    /// An object with `own` members and the fields that have a name such as `timeoutMs` or `catchUp.mode`.
    fileprivate func schema(with own: [JSON.Member], _ part: (JobField) -> JSON.Member?) -> JSON {
        let named = rows.compactMap(part).map { ($0.name.split(separator: "."), $0.value) }
        let members = Dictionary(grouping: named, by: \.0[0]).sorted { $0.key < $1.key }.map { head, parts in
            let members = parts.compactMap { path, part in
                path.count > 1 ? JSON.Member(String(path[1]), part) : nil
            }
            var schema = members.isEmpty ? parts[0].1 : Self.object(members)
            if Self.shorthands[String(head)] != nil {
                schema = .object(["anyOf": .array([.object(["type": .string("string")]), schema])])
            }
            return JSON.Member(String(head), schema)
        }
        return Self.object(own + members)
    }

    private static func object(_ members: [JSON.Member]) -> JSON {
        .object(["type": .string("object"), "properties": .members(members)])
    }
}

extension JobField {
    /// What a draft may hold: a value, or what removes it.
    fileprivate var draftSchema: JSON {
        guard let removal, form.isDuration else { return schema }
        let none: JSON = .object(["const": removal])
        return .object(["description": .string(doc), "anyOf": .array([schema, none])])
    }

    fileprivate var schema: JSON {
        let text: JSON = .object(["type": .string("string")])
        let file: JSON = .object(["type": .string("object"), "properties": .object(["file": text])])
        var elements = text
        var (type, words, limits): (String, [String]?, ClosedRange<Int>?) = ("string", nil, nil)
        switch form {
        case .flag: type = "boolean"
        case .number(let range): (type, limits) = ("integer", range)
        case .duration, .size, .seconds: (type, limits) = ("integer", 0...Int.max)
        case .choice(let choices): words = choices
        case .choices(let choices): (type, elements["enum"]) = ("array", .array(choices.map { .string($0) }))
        case .words, .list: type = "array"
        case .variables: type = "object"
        case .text, .interval, .botName, .icon, .path, .mask, .input: break
        }
        return .object([
            // A draft holds a map, the policies its kind alone.
            "type": form == .input ? nil : .string(type), "description": .string(doc),
            "enum": words.map { .array($0.map { .string($0) }) },
            "minimum": limits.map { .int($0.lowerBound) },
            "maximum": limits.flatMap { $0.upperBound == .max ? nil : .int($0.upperBound) },
            "items": type == "array" ? elements : nil,
            "additionalProperties": type == "object" ? .object(["anyOf": .array([text, file])]) : nil,
        ])
    }
}
