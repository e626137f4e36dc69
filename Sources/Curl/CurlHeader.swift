/// One header line of a request or a response.
package struct CurlHeader: Hashable, Sendable {
    /// The field's name; compared without regard to case.
    package let name: String
    /// The field's value, without the spaces around it.
    package let value: String

    /// The line `name: value`.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the line can be sent as it is: a token, and a value without control characters.
    ///
    /// A line break in a value would let its author write headers of his own.
    var isSound: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte)
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    /// Whether `byte` may stand in a field name or a method.
    ///
    /// Source: RFC 9110, section 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
