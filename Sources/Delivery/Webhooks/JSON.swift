/// A JSON value whose objects keep the order of their keys, so that the same value is the same bytes.
package enum JSON: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A number; written as `null` when it is none.
    case double(Double)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSON])
    /// Named values in order; see ``object(_:)`` for making one.
    case members([Member])

    /// A named value of an object.
    package struct Member: Hashable, Sendable {
        /// The name.
        package var name: String
        /// The value.
        package var value: JSON

        /// A named value.
        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// An object of the values that are known; what is `nil` is left out.
    package static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .members(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A whole number.
    package static func int(_ value: Int) -> JSON { .int(Int64(value)) }
}

extension JSON {
    /// The value as UTF-8 JSON without blanks.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .int(let value): bytes += String(value).utf8
        case .double(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .members(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            // RFC 8259 wants these escaped; DEL is escaped for terminals that print the body.
            case 0..<0x20, 0x7F: bytes += #"\u00"#.utf8 + [hex(byte >> 4), hex(byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func hex(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
