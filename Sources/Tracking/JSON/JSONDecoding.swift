extension JSON {
    /// The value that `bytes` hold as JSON; names that it does not ask for are ignored.
    ///
    /// - Throws: `DecodingError` with the path of the part at fault; empty where `bytes` are no JSON.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: some Sequence<UInt8>
    ) throws -> Value {
        var reader = JSONReader(Array(bytes)[...])
        guard let json = reader.value(), reader.isAtEnd else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: reader.problem ?? "it is not valid JSON"))
        }
        return try Value(from: JSONSource(value: json))
    }
}

extension JSON: Decodable {
    /// Reads whatever stands there; only ``decode(_:from:)`` can.
    package init(from decoder: any Decoder) throws {
        guard let source = decoder as? JSONSource else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not for this decoder"))
        }
        self = source.value
    }
}

/// What a value is read from.
private struct JSONSource: Decoder, SingleValueDecodingContainer {
    let value: JSON
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .members(let members) = value else {
            throw mismatch([String: JSON].self, "an object is expected")
        }
        return KeyedDecodingContainer(JSONMembers<Key>(members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else {
            throw mismatch([JSON].self, "a list is expected")
        }
        return JSONElements(values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { if case .null = value { true } else { false } }

    func decode(_ type: Bool.Type) throws -> Bool {
        if case .bool(let value) = value { value } else { throw mismatch(type) }
    }

    func decode(_ type: String.Type) throws -> String {
        if case .string(let text) = value { text } else { throw mismatch(type) }
    }

    func decode<Number: Decodable & FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard case .number(let digits) = value,
            let number = Number(digits) ?? Double(digits).flatMap(Number.init(exactly:))
        else { throw mismatch(type) }
        return number
    }

    func decode<Number: Decodable & BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Number.Type
    ) throws -> Number {
        guard case .number(let digits) = value, let number = Number(digits), number.isFinite else {
            throw mismatch(type)
        }
        return number
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    private func mismatch(_ type: any Any.Type, _ wish: String? = nil) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [], debugDescription: wish ?? "it is no \(type)"))
    }
}

private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [JSON.Member]
    /// Where each name stands last; nil where there are so few that looking through them is faster.
    private let places: [String: Int]?
    var codingPath: [any CodingKey] { [] }

    init(members: [JSON.Member]) {
        self.members = members
        guard members.count > 32 else {
            places = nil
            return
        }
        places = Dictionary(members.indices.lazy.map { (members[$0].name, $0) }) { $1 }
    }

    /// Each name once.
    var allKeys: [Key] {
        members.indices.compactMap { place in
            let name = members[place].name
            return self.place(of: name) == place ? Key(stringValue: name) : nil
        }
    }

    private func place(of name: String) -> Int? {
        if let places { return places[name] }
        return members.lastIndex { $0.name == name }
    }

    private func find(_ key: any CodingKey) -> JSON? {
        place(of: key.stringValue).map { members[$0].value }
    }

    private func source(_ key: any CodingKey) throws -> JSONSource {
        guard let value = find(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "it is missing"))
        }
        return JSONSource(value: value)
    }

    private func read<Value>(_ key: Key, _ body: (JSONSource) throws -> Value) throws -> Value {
        let source = try source(key)
        do { return try body(source) } catch let error as DecodingError { throw error.inside(key) }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try source(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try read(key) { try $0.decode(type) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try read(key) { try $0.container(keyedBy: type) } }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try read(key) { try $0.unkeyedContainer() }
    }

    func superDecoder() throws -> any Decoder { try source(JSONKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try source(key) }
}

private struct JSONElements: UnkeyedDecodingContainer {
    let values: [JSON]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex == values.count }

    init(values: [JSON]) { self.values = values }

    private mutating func read<Value>(_ body: (JSONSource) throws -> Value) throws -> Value {
        let key = JSONKey(currentIndex)
        guard !isAtEnd else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "it is missing"))
        }
        do {
            let value = try body(JSONSource(value: values[currentIndex]))
            currentIndex += 1
            return value
        } catch let error as DecodingError {
            throw error.inside(key)
        }
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, case .null = values[currentIndex] else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try read { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try read { try $0.container(keyedBy: type) } }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try read { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try read { $0 } }
}

/// A part of a path that is no key of a type.
private struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = (String(index), index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

extension DecodingError {
    /// The same of a part that stands under `key`.
    fileprivate func inside(_ key: any CodingKey) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
