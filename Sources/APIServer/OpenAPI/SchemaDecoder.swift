import Tracking

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
