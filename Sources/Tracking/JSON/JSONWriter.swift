package import Timeline

/// Writes JSON in one pass over bytes, without a value or a container in between.
///
/// For what is written with every event: ``JSON/encode(_:sorted:)`` of a `Codable` value costs many times as much. A
/// type that writes itself so stays `Codable`, writes the very bytes that its `Encodable` conformance would, and has a
/// test that compares the two.
///
/// The usual types have methods of their own: generic ones are slow across targets.
package struct JSONWriter {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    /// Nothing is written yet.
    package init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    /// Writes an object; `body` writes its members.
    package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "{"))
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes an array; `body` writes its elements.
    package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "["))
        try body(&self)
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a text with its quotes.
    package mutating func text(_ text: String) {
        separate()
        JSON.write(text, to: &bytes)
    }

    /// Writes the digits of a whole number.
    package mutating func integer(_ value: Int64) {
        separate()
        JSON.write(value, to: &bytes)
    }

    /// Writes what is JSON already.
    mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    /// Puts a comma behind the value before, if there is one.
    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: bytes.append(UInt8(ascii: ","))
        }
    }
}

// Members of the object that is open; what is nil is left out. A name stands for itself in JSON: it has no quotes and no
// control characters.

extension JSONWriter {
    /// Writes the name of a member; its value is what is written next.
    package mutating func name(_ name: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a text.
    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        self.name(name)
        text(value)
    }

    /// Writes a whole number.
    package mutating func member(_ name: String, _ value: Int?) {
        guard let value else { return }
        self.name(name)
        integer(Int64(value))
    }

    /// Writes a whole number.
    package mutating func member(_ name: String, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        integer(value)
    }

    /// Writes a number with the shortest digits that are read back as the same; `null` when it is none.
    package mutating func member(_ name: String, _ value: Double?) {
        guard let value else { return }
        self.name(name)
        literal(value.isFinite ? JSON.digits(of: value) : "null")
    }

    /// Writes `true` or `false`.
    package mutating func member(_ name: String, _ value: Bool?) {
        guard let value else { return }
        self.name(name)
        literal(value ? "true" : "false")
    }

    /// Writes whole microseconds since the epoch.
    package mutating func member(_ name: String, _ value: Moment?) { member(name, value?.microseconds) }

    /// Writes the upper and the lower half of its attoseconds, as the standard library encodes it.
    package mutating func member(_ name: String, _ value: Duration?) {
        guard let attoseconds = value?.attoseconds else { return }
        self.name(name)
        literal("[\(Int64(attoseconds >> 64)),\(UInt64(truncatingIfNeeded: attoseconds))]")
    }

    /// Writes texts in order.
    package mutating func member(_ name: String, _ values: (some Sequence<String>)?) {
        guard let values else { return }
        self.name(name)
        array { writer in for value in values { writer.text(value) } }
    }

    /// Writes whole numbers in order.
    package mutating func member(_ name: String, _ values: [Int]) {
        self.name(name)
        array { writer in for value in values { writer.integer(Int64(value)) } }
    }

    /// Writes a value that writes itself.
    package mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        guard let value else { return }
        self.name(name)
        value.write(to: &self)
    }

    /// Writes an object; `body` writes its members.
    package mutating func member(_ name: String, _ body: (inout JSONWriter) throws -> Void) rethrows {
        self.name(name)
        try object(body)
    }

    /// Writes a value that can only be encoded.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package mutating func member(
        _ name: String, encoding value: (some Encodable)?, sorted: Bool = false
    ) throws {
        guard let value else { return }
        self.name(name)
        bytes += try JSON.encode(value, sorted: sorted)
    }

    /// Writes texts by their names, in the order of the dictionary.
    package mutating func member(_ name: String, _ values: [String: String]?) {
        member(name, values) { writer, value in writer.text(value) }
    }

    /// Writes moments by their names, in the order of the dictionary.
    package mutating func member(_ name: String, _ values: [String: Moment]?) {
        member(name, values) { writer, value in writer.integer(value.microseconds) }
    }

    private mutating func member<Value>(
        _ name: String, _ values: [String: Value]?, _ write: (inout JSONWriter, Value) -> Void
    ) {
        guard let values else { return }
        member(name) { writer in
            for (key, value) in values {
                writer.text(key)
                writer.bytes.append(UInt8(ascii: ":"))
                write(&writer, value)
            }
        }
    }
}

/// A value that writes itself as JSON; see ``JSONWriter``.
package protocol JSONWritable {
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}

/// A value that writes its members in alphabetical order, byte for byte as ``JSON/encode(_:sorted:)`` would, which then
/// leaves the writing to it.
package protocol SortedJSONWritable: JSONWritable, Encodable {}
