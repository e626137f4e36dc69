package import API
package import Delivery
import Timeline
package import Tracking

/// Why a type of the wire has no schema.
package struct SchemaError: Error, Hashable, CustomStringConvertible {
    /// A sentence.
    package let description: String
}

/// A type whose schema does not follow from how it is decoded.
package protocol SchemaDescribed: Decodable {
    /// Its JSON Schema.
    static func schema(in book: SchemaBook) throws -> JSON
    /// Any value of it.
    static var sample: Self { get }
}

/// JSON Schemas of the types of the wire, derived from how each is decoded.
///
/// A type is decoded from a ``SchemaDecoder``, which notes the members that it asks for. Objects become components that
/// are referred to by name; `Wire` at the beginning of a name is dropped.
///
/// - Source: JSON Schema, draft 2020-12.
package final class SchemaBook {
    private var objects: [String: JSON] = [:]
    private var types: [String: any Any.Type] = [:]
    /// The objects that are being described: what lists them in itself refers to them.
    private var open: Set<ObjectIdentifier> = []

    /// A book without schemas.
    package init() {}

    /// The schemas of objects, by name.
    package var components: [JSON.Member] {
        objects.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value) }
    }

    /// The schema of a type.
    ///
    /// - Throws: ``SchemaError`` when it can't be found out: such a type is to be ``SchemaDescribed``.
    package func schema(of type: any Decodable.Type) throws -> JSON {
        func describe<Value: Decodable>(_ type: Value.Type) throws -> JSON { try self.describe(type).schema }
        if open.contains(ObjectIdentifier(type)) { return Self.reference(to: Self.name(of: type)) }
        return try describe(type)
    }

    /// Adds conditions to an object that was described already.
    func restrict(_ name: String, by conditions: [JSON]) {
        guard case .members(let members)? = objects[name] else { return }
        objects[name] = .members(members + [JSON.Member("allOf", .array(conditions))])
    }

    /// The schema of a type, and a value of it.
    func describe<Value: Decodable>(_ type: Value.Type) throws -> (schema: JSON, sample: Value) {
        if let described = type as? any SchemaDescribed.Type {
            return (try described.schema(in: self), try cast(described.sample))
        }
        if let (schema, sample) = Self.plain(type) { return (schema, try cast(sample)) }
        if let list = type as? any ListType.Type {
            let items = try schema(of: list.element)
            return (.object(["type": .string("array"), "items": items]), try cast(list.empty))
        }
        if let map = type as? any MapType.Type {
            let values = try schema(of: map.value)
            return (
                .object(["type": .string("object"), "additionalProperties": values]), try cast(map.empty)
            )
        }
        if let words = type as? any CaseIterable.Type, let (schema, sample) = Self.choices(words) {
            return (schema, try cast(sample))
        }
        return try object(type)
    }

    private func object<Value: Decodable>(_ type: Value.Type) throws -> (schema: JSON, sample: Value) {
        let full = String(describing: type)
        let name = Self.name(of: type)
        open.insert(ObjectIdentifier(type))
        defer { open.remove(ObjectIdentifier(type)) }
        let notes = SchemaNotes()
        let sample: Value
        do {
            sample = try Value(from: SchemaDecoder(book: self, notes: notes, codingPath: []))
        } catch let error as SchemaError {
            throw error
        } catch {
            throw SchemaError(description: "\(full) can't be described by itself: \(error)")
        }
        if let other = types[name], other != type {
            throw SchemaError(description: "two types are called \(name): \(other) and \(type)")
        }
        types[name] = type
        objects[name] = notes.schema
        return (Self.reference(to: name), sample)
    }

    /// The name of a type's schema: its own, or that of all it stands in where its own says nothing.
    private static func name(of type: any Any.Type) -> String {
        let path = String(reflecting: type).split(separator: ".")
        if path.starts(with: ["Delivery", "Fact"]), path.count > 2 {
            return path.dropFirst(2).filter { $0 != "Payload" }.joined() + "Data"
        }
        let full = String(describing: type)
        return full.hasPrefix("Wire") ? String(full.dropFirst(4)) : full
    }

    /// Adds the schema of an object that is described by hand, and refers to it.
    func define(_ name: String, _ schema: JSON) -> JSON {
        objects[name] = schema
        return Self.reference(to: name)
    }

    private static func reference(to name: String) -> JSON {
        .object(["$ref": .string("#/components/schemas/\(name)")])
    }

    private func cast<Value>(_ sample: Any) throws -> Value {
        guard let value = sample as? Value else {
            throw SchemaError(description: "no sample of \(Value.self)")
        }
        return value
    }

    private static func plain(_ type: any Decodable.Type) -> (JSON, Any)? {
        let integer: JSON = .object(["type": .string("integer")])
        let whole: JSON = .object(["type": .string("integer"), "format": .string("int64")])
        switch type {
        case is String.Type: return (.object(["type": .string("string")]), "")
        case is Bool.Type: return (.object(["type": .string("boolean")]), false)
        case is Double.Type: return (.object(["type": .string("number")]), 0.0)
        case is Int.Type: return (integer, 0)
        case is Int32.Type: return (integer, Int32(0))
        case is Int64.Type: return (whole, Int64(0))
        case is UInt32.Type: return (integer, UInt32(0))
        case is UInt64.Type: return (whole, UInt64(0))
        default: return nil
        }
    }

    private static func choices(_ type: any CaseIterable.Type) -> (JSON, Any)? {
        func open<Words: CaseIterable>(_ type: Words.Type) -> [Any] { Array(type.allCases) }
        let cases = open(type)
        let words = cases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        guard let first = cases.first, words.count == cases.count else { return nil }
        let schema = JSON.object(["type": .string("string"), "enum": .array(words.map { .string($0) })])
        return (schema, first)
    }
}

/// An array.
private protocol ListType {
    static var element: any Decodable.Type { get }
    static var empty: Self { get }
}

extension Array: ListType where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
    fileprivate static var empty: Self { [] }
}

/// An object with any names.
private protocol MapType {
    static var value: any Decodable.Type { get }
    static var empty: Self { get }
}

extension Dictionary: MapType where Key == String, Value: Decodable {
    fileprivate static var value: any Decodable.Type { Value.self }
    fileprivate static var empty: Self { [:] }
}

extension Timestamp: SchemaDescribed {
    /// A time.
    package static func schema(in book: SchemaBook) -> JSON {
        .object(["type": .string("string"), "format": .string("date-time")])
    }

    /// The epoch.
    package static var sample: Timestamp { Timestamp(Moment(microseconds: 0)) }
}

extension WirePause: SchemaDescribed {
    /// `null`, or an object.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let pause = book.define(
            "Pause",
            .object([
                "type": .string("object"),
                "properties": .object([
                    "since": try book.schema(of: Timestamp.self),
                    "note": .object(["type": .string("string")]),
                ]), "required": .array([.string("since")]),
            ]))
        return .object(["oneOf": .array([.object(["type": .string("null")]), pause])])
    }

    /// Not paused.
    package static var sample: WirePause { .no }
}

extension WireNextSlots: SchemaDescribed {
    /// Times, or objects.
    package static func schema(in book: SchemaBook) throws -> JSON {
        .object([
            "anyOf": .array([try book.schema(of: [Timestamp].self), try book.schema(of: [WireSlot].self)])
        ])
    }

    /// None.
    package static var sample: WireNextSlots { .times([]) }
}

extension JSON: SchemaDescribed {
    /// Anything.
    package static func schema(in book: SchemaBook) -> JSON { .object([:]) }

    /// Null.
    package static var sample: JSON { .null }
}

extension APIError: SchemaDescribed {
    /// The object under `error`.
    package static func schema(in book: SchemaBook) throws -> JSON {
        let text: JSON = .object(["type": .string("string")])
        let number: JSON = .object(["type": .string("integer")])
        let error = JSON.object([
            "type": .string("object"),
            "properties": .object([
                "code": try book.schema(of: ErrorCode.self), "kind": try book.schema(of: ErrorKind.self),
                "message": text, "hint": text, "faults": try book.schema(of: [WireFault].self),
                "warnings": try book.schema(of: [WireFault].self),
                "notes": try book.schema(of: [String].self),
                "errors": try book.schema(of: [WireRemark].self), "drawing": text, "field": text,
                "start": number, "end": number, "fix": text,
            ]), "required": .array(["code", "kind", "message"].map { .string($0) }),
        ])
        return book.define(
            "Error",
            .object([
                "type": .string("object"), "properties": .object(["error": error]),
                "required": .array([.string("error")]),
            ]))
    }

    /// Any error.
    package static var sample: APIError { APIError(.internalFault) }
}

extension ISOMoment: SchemaDescribed {
    /// A time.
    package static func schema(in book: SchemaBook) -> JSON {
        .object(["type": .string("string"), "format": .string("date-time")])
    }

    /// The epoch.
    package static var sample: ISOMoment { ISOMoment(moment: Moment(microseconds: 0)) }
}

/// What a type asked for while it was decoded.
final class SchemaNotes {
    private var members: [(name: String, schema: JSON)] = []
    private var optional: Set<String> = []

    func add(_ name: String, _ schema: JSON) {
        if !members.contains(where: { $0.name == name }) { members.append((name, schema)) }
    }

    func markOptional(_ name: String) { optional.insert(name) }

    var schema: JSON {
        let required = members.map(\.name).filter { !optional.contains($0) }
        return .object([
            "type": .string("object"),
            "properties": .members(members.map { JSON.Member($0.name, $0.schema) }),
            "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
        ])
    }
}

/// Gives whoever decodes from it a sample of what it asks for, and notes that.
struct SchemaDecoder: Decoder {
    let book: SchemaBook
    let notes: SchemaNotes
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SchemaMembers<Key>(book: book, notes: notes, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.unknown }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.unknown }

    static let unknown = SchemaError(description: "it is no object with named members")
}

/// The members of an object.
private struct SchemaMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let book: SchemaBook
    let notes: SchemaNotes
    let codingPath: [any CodingKey]
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    // Asked for what may be absent, before its value is.
    func decodeNil(forKey key: Key) -> Bool {
        notes.markOptional(key.stringValue)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, sample) = try book.describe(type)
        notes.add(key.stringValue, schema)
        return sample
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw SchemaDecoder.unknown }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaDecoder.unknown
    }

    func superDecoder() throws -> any Decoder { throw SchemaDecoder.unknown }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaDecoder.unknown }
}
