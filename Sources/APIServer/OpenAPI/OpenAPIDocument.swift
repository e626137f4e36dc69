package import API
import Delivery
import Ledger
package import Tracking

/// The OpenAPI description of a table of endpoints.
///
/// - Source: OpenAPI Specification 3.1.0.
package struct OpenAPIDocument {
    private var schemas = SchemaBook()
    private let rows: [EndpointRow]
    private let version: String

    /// A description of `rows`, of the daemon's `version`.
    package init(of rows: [EndpointRow], version: String) {
        self.rows = rows
        self.version = version
    }

    /// The document.
    ///
    /// - Throws: ``SchemaError`` when a type of a row can't be described.
    package mutating func json() throws -> JSON {
        var paths: [JSON.Member] = []
        var found: [String: [JSON.Member]] = [:]
        var order: [String] = []
        for row in rows {
            if found[row.path.text] == nil { order.append(row.path.text) }
            let operation = JSON.Member(row.method.rawValue.lowercased(), try self.operation(row))
            found[row.path.text, default: []].append(operation)
        }
        for path in order { paths.append(JSON.Member(path, .members(found[path] ?? []))) }
        _ = try schemas.schema(of: APIError.self)
        try describePayloads()
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("Belfry"), "version": .string(version),
                "description": .string(
                    "Jobs, runs and notifications, over the control socket. Members that are not known "
                        + "are absent. Durations are in milliseconds where a name ends in `Ms`."),
            ]),
            "servers": .array([
                .object(["url": .string("/"), "description": .string("The control socket.")])
            ]),
            "paths": .members(paths),
            "components": .object(["schemas": .members(schemas.components)]),
        ])
    }

    /// What the member `data` of an event holds, by its type: as the facts themselves are read.
    private func describePayloads() throws {
        var conditions: [JSON] = []
        for type in EventType.allCases {
            let data = try type.payloads.map { try schemas.schema(of: $0) }
            guard let first = data.first else { continue }
            let schema = data.count == 1 ? first : JSON.object(["anyOf": .array(data)])
            conditions.append(
                .object([
                    "if": .object([
                        "properties": .object(["type": .object(["const": .string(type.rawValue)])])
                    ]),
                    "then": .object(["properties": .object(["data": schema])]),
                ]))
        }
        schemas.restrict("Event", by: conditions)
    }

    private mutating func operation(_ row: EndpointRow) throws -> JSON {
        let parameters = pathParameters(row) + row.query.map(parameter) + headers(row)
        return .object([
            "operationId": .string(row.name),
            "summary": .string(row.doc),
            "tags": .array([.string(tag(row))]),
            "parameters": parameters.isEmpty ? nil : .array(parameters),
            "requestBody": try requestBody(row),
            "responses": .members(try [success(row)] + errors(row)),
        ])
    }

    private func tag(_ row: EndpointRow) -> String {
        guard row.path.segments.count > 1, case .literal(let word) = row.path.segments[1],
            row.path.segments[0] == .literal("v1")
        else { return "daemon" }
        return word == "openapi.json" ? "daemon" : word
    }

    private func pathParameters(_ row: EndpointRow) -> [JSON] {
        zip(row.path.names, row.pathKinds).map { name, kind in
            let schema: JSON =
                switch kind {
                case .text: .object(["type": .string("string")])
                case .ordinal: .object(["type": .string("integer"), "minimum": .int(1)])
                case .ordinalOrNewest:
                    .object(["type": .string("string"), "pattern": .string("^([1-9][0-9]*|newest)$")])
                }
            return .object([
                "name": .string(name), "in": .string("path"), "required": .bool(true), "schema": schema,
            ])
        }
    }

    private func parameter(_ row: QueryRow) -> JSON {
        var isList = false
        let schema: JSON
        switch row.kind {
        case .text: schema = .object(["type": .string("string")])
        case .flag: schema = .object(["type": .string("boolean"), "default": .bool(false)])
        case .number(let least, let most, let initial):
            schema = .object([
                "type": .string("integer"), "format": .string("int64"), "minimum": .int(least),
                "maximum": most >= Int64(Int.max) ? nil : .int(most), "default": initial.map { .int($0) },
            ])
        case .time: schema = .object(["type": .string("string"), "format": .string("date-time")])
        case .words(let words):
            isList = true
            schema = .object([
                "type": .string("array"),
                "items": .object(["type": .string("string"), "enum": .array(words.map { .string($0) })]),
            ])
        }
        return .object([
            "name": .string(row.name), "in": .string("query"), "description": .string(row.doc),
            "style": isList ? .string("form") : nil, "explode": isList ? .bool(false) : nil,
            "schema": schema,
        ])
    }

    private func headers(_ row: EndpointRow) -> [JSON] {
        guard case .events = row.answer else { return [] }
        return [
            .object([
                "name": .string("Last-Event-ID"), "in": .string("header"),
                "description": .string("Resumes after the event of this number."),
                "schema": .object(["type": .string("integer"), "minimum": .int(0)]),
            ])
        ]
    }

    private mutating func requestBody(_ row: EndpointRow) throws -> JSON? {
        switch row.body {
        case .none: nil
        case .required(let type): try body(type, isRequired: true)
        case .optional(let type): try body(type, isRequired: false)
        }
    }

    private mutating func body(_ type: WireType, isRequired: Bool) throws -> JSON {
        .object([
            "required": .bool(isRequired),
            "content": content("application/json", try schemas.schema(of: type)),
        ])
    }

    private func content(_ type: String, _ schema: JSON) -> JSON {
        .members([JSON.Member(type, .object(["schema": schema]))])
    }

    private mutating func success(_ row: EndpointRow) throws -> JSON.Member {
        let text: JSON = .object(["type": .string("string")])
        var content: JSON?
        var headers: JSON?
        switch row.answer {
        case .nothing: break
        case .json(let type): content = self.content("application/json", try schemas.schema(of: type))
        case .document: content = self.content("application/json", .object(["type": .string("object")]))
        case .text: content = self.content("text/plain", text)
        case .bytes(let fields):
            content = self.content("application/octet-stream", .object([:]))
            headers = .members(
                fields.sorted { $0.key < $1.key }.map { name, doc in
                    JSON.Member(
                        name,
                        .object([
                            "description": .string(doc), "schema": .object(["type": .string("integer")]),
                        ]))
                })
        case .events(let types):
            // The data of the events; no schema of a stream can name them.
            for type in types { _ = try schemas.schema(of: type) }
            content = self.content("text/event-stream", text)
        }
        let member = JSON.object([
            "description": .string(row.isCreating ? "Created." : "Success."), "headers": headers,
            "content": content,
        ])
        return JSON.Member(String(row.status), member)
    }

    /// The errors of a row by their status, each with its number and sentence.
    private mutating func errors(_ row: EndpointRow) throws -> [JSON.Member] {
        let schema = try schemas.schema(of: APIError.self)
        let byStatus = Dictionary(grouping: row.errors, by: \.row.status)
        return byStatus.sorted { $0.key < $1.key }.map { status, codes in
            let lines = codes.map { "\($0.rawValue): \($0.row.sentence)." }.joined(separator: " ")
            return JSON.Member(
                String(status),
                .object([
                    "description": .string(lines), "content": content("application/json", schema),
                ]))
        }
    }
}

extension DaemonHandler {
    /// The description of the whole API.
    func openAPI() throws -> [UInt8] {
        var document = OpenAPIDocument(of: Endpoints.all, version: identity.version)
        return try document.json().bytes
    }
}

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
