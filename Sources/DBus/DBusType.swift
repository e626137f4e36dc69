/// The type of a value, as a D-Bus signature writes it.
///
/// - Source: D-Bus specification 0.42, "Type System". Unix descriptors (`h`) are not carried.
package indirect enum DBusType: Hashable, Sendable {
    case byte, bool, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature, variant
    case array(DBusType)
    case structure([DBusType])
    /// Array of dictionary entries; the key must be a basic type.
    case dictionary(key: DBusType, value: DBusType)

    /// The type's signature, such as `a{sv}`.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .variant: "v"
        case .array(let element): "a" + element.signature
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .dictionary(let key, let value): "a{" + key.signature + value.signature + "}"
        }
    }

    /// Reads one complete type; `nil` when `signature` is anything else.
    package init?(signature: String) {
        var rest = Substring(signature)
        guard let type = Self.take(from: &rest, depth: 0), rest.isEmpty else { return nil }
        self = type
    }

    private static func take(from rest: inout Substring, depth: Int) -> DBusType? {
        guard depth <= DBusValue.maximumDepth, let letter = rest.popFirst() else { return nil }
        if letter == "a" {
            guard rest.first == "{" else { return take(from: &rest, depth: depth + 1).map(DBusType.array) }
            rest.removeFirst()
            guard let key = take(from: &rest, depth: depth + 1), key.isBasic,
                let value = take(from: &rest, depth: depth + 1), rest.popFirst() == "}"
            else { return nil }
            return .dictionary(key: key, value: value)
        }
        if letter == "(" {
            var members: [DBusType] = []
            while rest.first != ")" {
                guard let member = take(from: &rest, depth: depth + 1) else { return nil }
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
