/// One value in a message.
///
/// A value always knows its ``type``, also when it is an empty array. Strings may not hold NUL; that and
/// the form of paths and signatures are checked before libdbus sees them, which would end the process.
package indirect enum DBusValue: Hashable, Sendable, SignatureWriting {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    case variant(DBusValue)
    case array(of: DBusType, [DBusValue])
    case structure([DBusValue])
    case dictionary(key: DBusType, value: DBusType, [Entry])

    /// One pair of a dictionary, in the order of the wire.
    package struct Entry: Hashable, Sendable {
        /// A basic value.
        package var key: DBusValue
        /// Any value.
        package var value: DBusValue

        /// The pair `key`, `value`.
        package init(_ key: DBusValue, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// How deep values may nest.
    ///
    /// The wire allows 64 in all; nothing real comes near.
    package static let maximumDepth = 32

    /// An array of strings, `as`.
    package static func strings(_ texts: [String]) -> DBusValue {
        .array(of: .string, texts.map(DBusValue.string))
    }

    /// A dictionary `a{sv}`, in the given order.
    package static func hints(_ pairs: KeyValuePairs<String, DBusValue>) -> DBusValue {
        hints(pairs.map { ($0.key, $0.value) })
    }

    /// A dictionary `a{sv}`, in the given order.
    package static func hints(_ pairs: [(String, DBusValue)]) -> DBusValue {
        .dictionary(
            key: .string, value: .variant,
            pairs.map { Entry(.string($0.0), .variant($0.1)) })
    }

    /// What this value is on the wire.
    package var type: DBusType {
        switch self {
        case .byte: .byte
        case .bool: .bool
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .variant: .variant
        case .array(let element, _): .array(element)
        case .structure(let members): .structure(members.map(\.type))
        case .dictionary(let key, let value, _): .dictionary(key: key, value: value)
        }
    }

    /// Appends the signature of ``type`` to `letters`, without making the type first.
    func writeSignature(to letters: inout [UInt8]) {
        switch self {
        case .array(let element, _): element.writeArraySignature(to: &letters)
        case .structure(let members): members.writeStructureSignature(to: &letters)
        default: type.writeSignature(to: &letters)
        }
    }

    /// Whether ``type`` is `type`.
    func isOf(_ type: DBusType) -> Bool {
        switch (self, type) {
        case (.string, .string), (.variant, .variant): true  // nearly all there are
        default: self.type == type
        }
    }
}

extension DBusValue {
    /// The text of a string, path or signature; `nil` for anything else.
    package var text: String? {
        switch self {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// The number of a `uint32`; `nil` for anything else.
    package var uint32: UInt32? {
        if case .uint32(let number) = self { number } else { nil }
    }

    /// The truth of a boolean; `nil` for anything else.
    package var bool: Bool? {
        if case .bool(let truth) = self { truth } else { nil }
    }

    /// The strings of an array of strings; `nil` for anything else.
    package var strings: [String]? {
        guard case .array(of: .string, let elements) = self else { return nil }
        return elements.compactMap(\.text)
    }
}
