package import API
package import Ledger
package import Tracking

extension JobDraft: SchemaDescribed {
    /// An object with every field that a draft may hold.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let text = try book.schema(of: String.self)
        let schedule = JSON.Member("schedule", try book.schema(of: WireSchedule.self))
        let own = [JSON.Member("name", text), JSON.Member("origin", text), schedule]
        return book.define("JobDraft", JobFields.standard.schema(with: own) { $0.draft })
    }

    /// A draft that says nothing.
    package static var sample: JobDraft { JobDraft() }
}

extension JobValue: SchemaDescribed {
    /// The policies of a job.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let offset = JSON.Member("spreadOffsetMs", try book.schema(of: Int64.self))
        return book.define("Policies", JobFields.standard.schema(with: [offset]) { $0.policy })
    }

    /// No policies.
    package static var sample: JobValue { .map([:]) }
}

extension JobFields {
    /// An object with `own` members and the fields that have a name such as `timeoutMs` or `catchUp.mode`.
    fileprivate func schema(with own: [JSON.Member], by name: (JobField) -> String?) -> JSON {
        let named = rows.compactMap { row in name(row).map { ($0.split(separator: "."), row.schema) } }
        let members = Dictionary(grouping: named, by: \.0[0]).sorted { $0.key < $1.key }.map { head, parts in
            let members = parts.compactMap { path, part in
                path.count > 1 ? JSON.Member(String(path[1]), part) : nil
            }
            return JSON.Member(String(head), members.isEmpty ? parts[0].1 : Self.object(members))
        }
        return Self.object(own + members)
    }

    private static func object(_ members: [JSON.Member]) -> JSON {
        .object(["type": .string("object"), "properties": .members(members)])
    }
}

extension JobField {
    fileprivate var schema: JSON {
        let text: JSON = .object(["type": .string("string")])
        let file: JSON = .object(["type": .string("object"), "properties": .object(["file": text])])
        var (type, words, limits): (String, [String]?, ClosedRange<Int>?) = ("string", nil, nil)
        switch form {
        case .flag: type = "boolean"
        case .number(let range): (type, limits) = ("integer", range)
        case .duration, .size, .seconds: (type, limits) = ("integer", 0...Int.max)
        case .choice(let choices): words = choices
        case .words: type = "array"
        case .variables: type = "object"
        case .text, .interval, .botName, .path, .mask, .input: break
        }
        return .object([
            "type": .string(type), "description": .string(doc),
            "enum": words.map { .array($0.map { .string($0) }) },
            "minimum": limits.map { .int($0.lowerBound) },
            "maximum": limits.flatMap { $0.upperBound == .max ? nil : .int($0.upperBound) },
            "items": type == "array" ? text : nil,
            "additionalProperties": type == "object" ? .object(["anyOf": .array([text, file])]) : nil,
        ])
    }
}
