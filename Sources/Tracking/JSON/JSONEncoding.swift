extension JSON {
    /// The JSON of a value: UTF-8, one line, absent parts left out, written in one pass over bytes.
    ///
    /// Keys stand in the order in which the value writes them, or `sorted` by the alphabet. Types that Foundation's
    /// coders treat on their own (`Data`, `Date`, `URL`, `Decimal`) do not belong into it.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package static func encode(_ value: some Encodable, sorted: Bool = false) throws -> [UInt8] {
        if sorted, let value = value as? any SortedJSONWritable {
            var writer = JSONWriter()
            value.write(to: &writer)
            return writer.bytes
        }
        let output = JSONOutput(sorts: sorted)
        try output.write(value, at: 0)
        return output.bytes
    }

    /// The value that `value` is written as.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package init(encoding value: some Encodable) throws {
        self = try JSON.decode(JSON.self, from: JSON.encode(value))
    }
}

extension JSON: Encodable {
    /// Writes what it is; only ``encode(_:sorted:)`` can.
    package func encode(to encoder: any Encoder) throws {
        guard let element = encoder as? JSONElement else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "not for this encoder")
            throw EncodingError.invalidValue(self, context)
        }
        element.output.write(self)
    }
}

/// The bytes so far, and the containers that are still open.
///
/// Who writes into a container closes those inside of it: their values are complete then.
private final class JSONOutput {
    private struct Container {
        let closing: UInt8
        var isEmpty = true
        /// Where its members begin, by name; of those that are sorted.
        var members: [(name: String, start: Int)] = []
    }

    private(set) var bytes: [UInt8] = []
    private let sorts: Bool
    /// The innermost is the last.
    private var open: [Container] = []

    init(sorts: Bool) {
        self.sorts = sorts
        bytes.reserveCapacity(1024)
    }

    /// Opens a container inside of those that are open; returns its depth.
    func open(_ opening: UInt8, _ closing: UInt8) -> Int {
        bytes.append(opening)
        open.append(Container(closing: closing))
        return open.count
    }

    func close(to depth: Int) {
        while open.count > depth {
            let container = open.removeLast()
            if container.members.count > 1 { sort(container.members) }
            bytes.append(container.closing)
        }
    }

    /// Puts the members that end the bytes into the order of their names.
    private func sort(_ members: [(name: String, start: Int)]) {
        let ends = members.dropFirst().map { $0.start - 1 } + [bytes.count]
        let parts = zip(members, ends).sorted { $0.0.name < $1.0.name }.map { bytes[$0.start..<$1] }
        bytes.replaceSubrange(members[0].start..., with: Array(parts.joined(separator: [0x2C])))
    }

    /// Begins the next element of the container at `depth`.
    func next(in depth: Int, key: String? = nil) {
        close(to: depth)
        if open[depth - 1].isEmpty { open[depth - 1].isEmpty = false } else { bytes.append(0x2C) }
        guard let key else { return }
        if sorts { open[depth - 1].members.append((key, bytes.count)) }
        JSON.write(key, to: &bytes)
        bytes.append(0x3A)
    }

    func write(_ value: some Encodable, at depth: Int) throws {
        let count = bytes.count
        try value.encode(to: JSONElement(output: self, depth: depth))
        if bytes.count == count { write(raw: "{}") }
        close(to: depth)
    }

    func write(_ value: JSON) { value.write(to: &bytes) }
    func write(raw text: String) { bytes.append(contentsOf: text.utf8) }
    func write(_ text: String) { JSON.write(text, to: &bytes) }

    func write(integer value: some BinaryInteger) {
        if let value = Int64(exactly: value) { write(digitsOf: value) } else { write(raw: String(value)) }
    }

    func write(digitsOf value: Int64) { JSON.write(value, to: &bytes) }

    func write(number value: some BinaryFloatingPoint & LosslessStringConvertible) throws {
        guard value.isFinite else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "JSON has no such number")
            throw EncodingError.invalidValue(value, context)
        }
        write(raw: JSON.digits(of: value))
    }
}

/// The place of one value.
private final class JSONElement: Encoder {
    let output: JSONOutput
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    /// The depth of its container, once it has one.
    private var own: Int?

    init(output: JSONOutput, depth: Int) {
        self.output = output
        self.depth = depth
    }

    private func container(_ opening: UInt8, _ closing: UInt8) -> Int {
        if let own { return own }
        let depth = output.open(opening, closing)
        own = depth
        return depth
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObject(output: output, depth: container(0x7B, 0x7D)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONArray(output: output, depth: container(0x5B, 0x5D))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONScalar(output: output, depth: depth)
    }
}

private struct JSONScalar: SingleValueEncodingContainer {
    let output: JSONOutput
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { output.write(raw: "null") }
    func encode(_ value: Bool) { output.write(raw: value ? "true" : "false") }
    func encode(_ value: String) { output.write(value) }
    func encode(_ value: Int) { output.write(digitsOf: Int64(value)) }
    func encode(_ value: Int64) { output.write(digitsOf: value) }
    func encode(_ value: some Encodable & BinaryInteger) { output.write(integer: value) }
    func encode(_ value: some Encodable & BinaryFloatingPoint & LosslessStringConvertible) throws {
        try output.write(number: value)
    }
    func encode(_ value: some Encodable) throws { try output.write(value, at: depth) }
}

private struct JSONObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: JSONOutput
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    private func next(_ key: String) -> JSONScalar {
        output.next(in: depth, key: key)
        return JSONScalar(output: output, depth: depth)
    }

    func encodeNil(forKey key: Key) { next(key.stringValue).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { next(key.stringValue).encode(value) }
    func encode(_ value: String, forKey key: Key) { next(key.stringValue).encode(value) }
    func encode(_ value: Int, forKey key: Key) { next(key.stringValue).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { next(key.stringValue).encode(value) }
    func encode(_ value: some Encodable & BinaryInteger, forKey key: Key) {
        next(key.stringValue).encode(value)
    }
    func encode(
        _ value: some Encodable & BinaryFloatingPoint & LosslessStringConvertible, forKey key: Key
    ) throws { try next(key.stringValue).encode(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try next(key.stringValue).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        element(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        element(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { element("super") }
    func superEncoder(forKey key: Key) -> any Encoder { element(key.stringValue) }

    private func element(_ key: String) -> JSONElement {
        output.next(in: depth, key: key)
        return JSONElement(output: output, depth: depth)
    }
}

private struct JSONArray: UnkeyedEncodingContainer {
    let output: JSONOutput
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(output: JSONOutput, depth: Int) {
        self.output = output
        self.depth = depth
    }

    private mutating func next() -> JSONScalar {
        count += 1
        output.next(in: depth)
        return JSONScalar(output: output, depth: depth)
    }

    mutating func encodeNil() { next().encodeNil() }
    mutating func encode(_ value: Bool) { next().encode(value) }
    mutating func encode(_ value: String) { next().encode(value) }
    mutating func encode(_ value: some Encodable & BinaryInteger) { next().encode(value) }
    mutating func encode(_ value: some Encodable & BinaryFloatingPoint & LosslessStringConvertible) throws {
        try next().encode(value)
    }
    mutating func encode(_ value: some Encodable) throws { try next().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { element() }

    private mutating func element() -> JSONElement {
        _ = next()
        return JSONElement(output: output, depth: depth)
    }
}
