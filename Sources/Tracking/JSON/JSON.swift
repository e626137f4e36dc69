/// A JSON value whose objects keep the order of their keys, so that the same value is the same bytes.
///
/// The only JSON of the tree: hostile bytes become one by ``init(parsing:depth:repairing:)``, a `Codable` value by
/// ``encode(_:sorted:)`` and ``decode(_:from:)``; what is written with every event writes itself by a ``JSONWriter``.
/// Pure, and several times as fast as Foundation's coders.
package enum JSON: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number with the digits it is written with; see ``int(_:)`` and ``double(_:)`` for making one.
    case number(String)
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
    package static func int(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

    /// A number; `null` when it is none.
    package static func double(_ value: Double) -> JSON {
        value.isFinite ? .number(digits(of: value)) : .null
    }

    /// The shortest digits that are read back as the same number; whole ones without a point.
    static func digits(of value: some BinaryFloatingPoint & LosslessStringConvertible) -> String {
        let digits = value.description
        return digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits
    }
}

// What is read of a value.
extension JSON {
    /// The member of that name, the last of several; `nil` also where this is no object.
    ///
    /// Setting it keeps its place, makes an object of what is none, and with `nil` removes it.
    package subscript(name: String) -> JSON? {
        get {
            guard case .members(let members) = self else { return nil }
            return members.last { $0.name == name }?.value
        }
        set {
            var members = if case .members(let members) = self { members } else { [Member]() }
            let place = members.firstIndex { $0.name == name } ?? members.endIndex
            members.removeAll { $0.name == name }
            if let newValue { members.insert(Member(name, newValue), at: place) }
            self = .members(members)
        }
    }

    /// The text, where it is one.
    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, where it is one that a `Double` can hold.
    package var double: Double? {
        guard case .number(let digits) = self, let value = Double(digits), value.isFinite else { return nil }
        return value
    }

    /// The number, where it is a whole one.
    package var int: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }

    /// The values of an array; none where this is no array.
    package var elements: [JSON] { if case .array(let values) = self { values } else { [] } }
}

// How it is written.
extension JSON {
    /// The value as UTF-8 JSON without blanks.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// Appends ``bytes``.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .members(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a text with its quotes.
    ///
    /// No control character is left in it, C1 included: it may go to a terminal as it is.
    static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain(text.utf8.span) {
            bytes.append(contentsOf: text.utf8)
        } else {
            writeEscaped(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a byte stands for itself in a text of such bytes.
    ///
    /// 0xC2 is in front of C1 controls, and of them alone what is escaped beyond ASCII.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != 0xC2 && byte != UInt8(ascii: "\"")
            && byte != UInt8(ascii: "\\")
    }

    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        for place in bytes.indices where !isPlain(bytes[place]) { return false }
        return true
    }

    private static func writeEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0..<0x20, 0x7F: escape(byte, to: &bytes)
            // A C1 control: 0xC2 does nothing but lead two bytes.
            case 0x80..<0xA0 where bytes.last == 0xC2:
                bytes.removeLast()
                escape(byte, to: &bytes)
            default: bytes.append(byte)
            }
        }
    }

    /// Appends the digits of a whole number.
    static func write(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        var count = 1
        var bound: UInt64 = 10
        // Nineteen digits are the most.
        while count < 19, rest >= bound { (count, bound) = (count + 1, bound &* 10) }
        bytes.append(contentsOf: repeatElement(0x30, count: count))
        var place = bytes.count
        while rest > 0 {
            place -= 1
            bytes[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes += #"\u00"#.utf8
        for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    }
}
