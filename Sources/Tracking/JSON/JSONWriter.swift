package import Timeline

/// Writes JSON in one pass over bytes, without a value or a container in between.
///
/// For what is written with every event: ``JSON/encode(_:sorted:)`` of a `Codable` value costs many times as much. A
/// type that writes itself so stays `Codable`, writes the very bytes that its `Encodable` conformance would, and has a
/// test that compares the two.
package struct JSONWriter {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    /// Nothing is written yet.
    package init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    /// Writes an object; `body` writes its members.
    package mutating func object<Failure>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        bytes.append(UInt8(ascii: "{"))
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes a member of the object that is open.
    ///
    /// - Parameter name: Text that stands for itself in JSON: no quotes, no control characters.
    package mutating func member(_ name: String, _ value: some JSONWritable) {
        begin(name)
        value.write(to: &self)
    }

    /// Writes a member, unless there is none.
    package mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an object; `body` writes its members.
    package mutating func member<Failure>(
        _ name: String, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        begin(name)
        try object(body)
    }

    /// Writes a member that can only be encoded.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package mutating func member(_ name: String, encoding value: some Encodable) throws {
        begin(name)
        bytes += try JSON.encode(value)
    }

    /// Writes values in order.
    mutating func array(_ values: some Sequence<some JSONWritable>) {
        bytes.append(UInt8(ascii: "["))
        for value in values {
            separate()
            value.write(to: &self)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes the values of a dictionary by their names, in its own order.
    mutating func members(_ values: [String: some JSONWritable]) {
        object { writer in
            for (name, value) in values {
                writer.separate()
                JSON.write(name, to: &writer.bytes)
                writer.bytes.append(UInt8(ascii: ":"))
                value.write(to: &writer)
            }
        }
    }

    mutating func text(_ text: String) { JSON.write(text, to: &bytes) }

    mutating func literal(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func integer(_ value: Int64) { JSON.write(value, to: &bytes) }

    private mutating func begin(_ name: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Puts a comma behind the value before, if there is one: no value ends with an opening bracket.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }
}

/// A value that writes itself as JSON; see ``JSONWriter``.
package protocol JSONWritable {
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}

extension JSONWritable where Self: RawRepresentable, RawValue == String {
    /// Writes the text of the case.
    package func write(to writer: inout JSONWriter) { writer.text(rawValue) }
}

extension String: JSONWritable {
    /// Writes the text with its quotes.
    package func write(to writer: inout JSONWriter) { writer.text(self) }
}

extension Bool: JSONWritable {
    /// Writes `true` or `false`.
    package func write(to writer: inout JSONWriter) { writer.literal(self ? "true" : "false") }
}

extension Int: JSONWritable {
    /// Writes the digits.
    package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
}

extension Int64: JSONWritable {
    /// Writes the digits.
    package func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Double: JSONWritable {
    /// Writes the shortest digits that are read back as the same number; `null` when it is none.
    package func write(to writer: inout JSONWriter) {
        writer.literal(isFinite ? JSON.digits(of: self) : "null")
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes the elements in order.
    package func write(to writer: inout JSONWriter) { writer.array(self) }
}

extension Set: JSONWritable where Element: JSONWritable {
    /// Writes the elements in the set's own order.
    package func write(to writer: inout JSONWriter) { writer.array(self) }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// Writes the values by their names, in the dictionary's own order.
    package func write(to writer: inout JSONWriter) { writer.members(self) }
}

extension Moment: JSONWritable {
    /// Writes whole microseconds since the epoch.
    package func write(to writer: inout JSONWriter) { writer.integer(microseconds) }
}

extension Duration: JSONWritable {
    /// Writes the upper and the lower half of its attoseconds, as the standard library encodes it.
    package func write(to writer: inout JSONWriter) {
        let (high, low) = (Int64(attoseconds >> 64), UInt64(truncatingIfNeeded: attoseconds))
        writer.literal("[\(high),\(low)]")
    }
}

extension RunState: JSONWritable {}
extension RunReason: JSONWritable {}
