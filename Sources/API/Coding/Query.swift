/// The part of a request's target after `?`.
package struct Query: Hashable, Sendable {
    /// Names and values, decoded, in order.
    package private(set) var pairs: [Pair]

    /// A name with its value.
    package struct Pair: Hashable, Sendable {
        /// Decoded.
        package var name: String
        /// Decoded; empty when there is no `=`.
        package var value: String
    }

    /// An empty query.
    package init() {
        pairs = []
    }

    /// Reads `a=1&b=2`; a pair that can't be decoded is left out.
    package init(_ text: some StringProtocol) {
        pairs = text.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0]),
                let value = parts.count > 1 ? PercentCoding.decode(parts[1]) : ""
            else { return nil }
            return Pair(name: name, value: value)
        }
    }

    /// The first value of `name`; setting nil removes it.
    package subscript(name: String) -> String? {
        get { pairs.first { $0.name == name }?.value }
        set {
            pairs.removeAll { $0.name == name }
            if let newValue { pairs.append(Pair(name: name, value: newValue)) }
        }
    }

    /// `?a=1&b=2`, or nothing when there is nothing in it.
    package var suffix: String {
        guard !pairs.isEmpty else { return "" }
        return "?"
            + pairs.map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
            .joined(separator: "&")
    }
}

/// Escapes text for a path segment or a query.
///
/// - Source: RFC 3986, 2.1 and 2.3.
package enum PercentCoding {
    /// `text` with every byte but letters, digits and `-._~` escaped.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that `text` stands for; nil when an escape is broken or the bytes are no UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
