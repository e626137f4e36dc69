/// The type of a value, as a D-Bus signature writes it.
///
/// - Source: D-Bus specification 0.42, "Type System". Unix descriptors (`h`) are not carried.
package indirect enum DBusType: Hashable, Sendable, SignatureWriting {
    case byte, bool, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature, variant
    case array(DBusType)
    case structure([DBusType])
    /// Array of dictionary entries; the key must be a basic type.
    case dictionary(key: DBusType, value: DBusType)

    /// The type's signature, such as `a{sv}`.
    package var signature: String {
        var letters: [UInt8] = []
        writeSignature(to: &letters)
        return String(decoding: letters, as: UTF8.self)
    }

    /// Appends the type's signature to `letters`.
    func writeSignature(to letters: inout [UInt8]) {
        switch self {
        case .byte: letters.append(UInt8(ascii: "y"))
        case .bool: letters.append(UInt8(ascii: "b"))
        case .int16: letters.append(UInt8(ascii: "n"))
        case .uint16: letters.append(UInt8(ascii: "q"))
        case .int32: letters.append(UInt8(ascii: "i"))
        case .uint32: letters.append(UInt8(ascii: "u"))
        case .int64: letters.append(UInt8(ascii: "x"))
        case .uint64: letters.append(UInt8(ascii: "t"))
        case .double: letters.append(UInt8(ascii: "d"))
        case .string: letters.append(UInt8(ascii: "s"))
        case .objectPath: letters.append(UInt8(ascii: "o"))
        case .signature: letters.append(UInt8(ascii: "g"))
        case .variant: letters.append(UInt8(ascii: "v"))
        case .array(let element): element.writeArraySignature(to: &letters)
        case .structure(let members): members.writeStructureSignature(to: &letters)
        case .dictionary(let key, let value):
            letters += "a{".utf8
            key.writeSignature(to: &letters)
            value.writeSignature(to: &letters)
            letters.append(UInt8(ascii: "}"))
        }
    }

    /// What the place of a value of this type in a message is a multiple of.
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .bool, .int32, .uint32, .string, .objectPath, .array, .dictionary: 4
        case .int64, .uint64, .double, .structure: 8
        }
    }

    /// Reads one complete type; `nil` when `signature` is anything else.
    package init?(signature: String) {
        var rest = Substring(signature)
        guard let type = Self.read(from: &rest, depth: 0), rest.isEmpty else { return nil }
        self = type
    }

    private static func read(from rest: inout Substring, depth: Int) -> DBusType? {
        guard depth <= DBusValue.maximumDepth, let letter = rest.popFirst() else { return nil }
        if letter == "a" {
            guard rest.first == "{" else { return read(from: &rest, depth: depth + 1).map(DBusType.array) }
            rest.removeFirst()
            guard let key = read(from: &rest, depth: depth + 1), key.isBasic,
                let value = read(from: &rest, depth: depth + 1), rest.popFirst() == "}"
            else { return nil }
            return .dictionary(key: key, value: value)
        }
        if letter == "(" {
            var members: [DBusType] = []
            while rest.first != ")" {
                guard let member = read(from: &rest, depth: depth + 1) else { return nil }
                members.append(member)
            }
            rest.removeFirst()
            return members.isEmpty ? nil : .structure(members)
        }
        return letters[letter]
    }

    private static let letters: [Character: DBusType] = [
        "y": .byte, "b": .bool, "n": .int16, "q": .uint16, "i": .int32, "u": .uint32, "x": .int64,
        "t": .uint64, "d": .double, "s": .string, "o": .objectPath, "g": .signature, "v": .variant,
    ]

    /// Whether a value of this type may be the key of a dictionary.
    package var isBasic: Bool {
        switch self {
        case .variant, .array, .structure, .dictionary: false
        default: true
        }
    }
}

/// libdbus' codes of types; its own macros hold casts, which Swift does not import.
///
/// - Source: dbus-protocol.h, `DBUS_TYPE_...`.
enum TypeCode {
    static let invalid: Int32 = 0
    static let byte = code("y")
    static let bool = code("b")
    static let int16 = code("n")
    static let uint16 = code("q")
    static let int32 = code("i")
    static let uint32 = code("u")
    static let int64 = code("x")
    static let uint64 = code("t")
    static let double = code("d")
    static let string = code("s")
    static let objectPath = code("o")
    static let signature = code("g")
    static let array = code("a")
    static let variant = code("v")
    static let structure = code("r")
    static let dictionaryEntry = code("e")

    private static func code(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
}

/// Has a signature: a type, or a value of one.
protocol SignatureWriting {
    func writeSignature(to letters: inout [UInt8])
}

extension SignatureWriting {
    /// Appends the signature of an array of such elements.
    func writeArraySignature(to letters: inout [UInt8]) {
        letters.append(UInt8(ascii: "a"))
        writeSignature(to: &letters)
    }
}

extension Array where Element: SignatureWriting {
    /// Appends the signature of a structure of these members.
    func writeStructureSignature(to letters: inout [UInt8]) {
        letters.append(UInt8(ascii: "("))
        for member in self { member.writeSignature(to: &letters) }
        letters.append(UInt8(ascii: ")"))
    }
}

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
