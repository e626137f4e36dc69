extension JSON {
    /// Reads one value with nothing but white space around it; `nil` when `bytes` are anything else.
    ///
    /// Nothing is guessed, for anybody may have written it; how long the bytes may be is for the caller to say.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8 text.
    ///   - depth: The deepest nesting that is read; what is deeper is refused.
    ///   - repairing: Whether broken UTF-8 and lone surrogates become replacement characters; else they are refused.
    /// - Source: RFC 8259.
    package init?(parsing bytes: ArraySlice<UInt8>, depth: Int = 64, repairing: Bool = false) {
        var reader = JSONReader(bytes, depth: depth, repairing: repairing)
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }
}

/// Reads JSON from its beginning on, a part at a time.
package struct JSONReader {
    private let bytes: ArraySlice<UInt8>
    private let depth: Int
    private let repairs: Bool
    /// Why nothing was read although it may be JSON: a limit of this reader, as a sentence without a full stop.
    package private(set) var problem: String?
    /// The place of the next byte in the slice that is read.
    package private(set) var place: Int

    /// A reader of `bytes`; see ``JSON/init(parsing:depth:repairing:)``.
    package init(_ bytes: ArraySlice<UInt8>, depth: Int = 64, repairing: Bool = false) {
        self.bytes = bytes
        self.depth = depth
        repairs = repairing
        place = bytes.startIndex
    }

    /// Whether nothing but white space is left.
    package var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return place == bytes.endIndex
        }
    }

    /// Reads the next value; `nil` when there is none.
    package mutating func value() -> JSON? { value(within: depth) }

    /// Reads an object and hands over the name of each member; `body` reads its value, and returns whether to continue.
    ///
    /// - Returns: whether it was a whole object.
    package mutating func object(_ body: (String, inout JSONReader) -> Bool) -> Bool {
        guard skip("{") else { return false }
        if skip("}") { return true }
        repeat {
            skipSpace()
            guard let name = string(), skip(":"), body(name, &self) else { return false }
        } while skip(",")
        return skip("}")
    }

    /// Skips what may stand between the parts of a value.
    package mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private var byte: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

    private mutating func value(within depth: Int) -> JSON? {
        skipSpace()
        switch byte {
        case UInt8(ascii: "{"):
            guard mayEnter(depth) else { return nil }
            var members: [JSON.Member] = []
            let isWhole = object { name, reader in
                guard let value = reader.value(within: depth - 1) else { return false }
                members.append(JSON.Member(name, value))
                return true
            }
            return isWhole ? .members(members) : nil
        case UInt8(ascii: "["): return mayEnter(depth) ? array(within: depth - 1) : nil
        case UInt8(ascii: "\""): return string().map(JSON.string)
        case UInt8(ascii: "t"): return word("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func mayEnter(_ left: Int) -> Bool {
        if left <= 0 { problem = "it is nested more than \(depth) levels deep" }
        return left > 0
    }

    private static let longestNumber = 64

    private mutating func array(within depth: Int) -> JSON? {
        place += 1
        if skip("]") { return .array([]) }
        var values: [JSON] = []
        repeat {
            guard let value = value(within: depth) else { return nil }
            values.append(value)
        } while skip(",")
        return skip("]") ? .array(values) : nil
    }

    private mutating func number() -> JSON? {
        let start = place
        if byte == UInt8(ascii: "-") { place += 1 }
        let leading = byte
        let whole = digits()
        guard whole > 0, leading != UInt8(ascii: "0") || whole == 1 else { return nil }
        if byte == UInt8(ascii: ".") {
            place += 1
            guard digits() > 0 else { return nil }
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            place += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { place += 1 }
            guard digits() > 0 else { return nil }
        }
        // No number that anything here writes or needs is longer.
        guard place - start <= Self.longestNumber else {
            problem = "a number has more than \(Self.longestNumber) characters"
            return nil
        }
        return .number(String(decoding: bytes[start..<place], as: UTF8.self))
    }

    private mutating func digits() -> Int {
        let start = place
        while let byte, (0x30...0x39).contains(byte) { place += 1 }
        return place - start
    }

    private mutating func string() -> String? {
        guard byte == UInt8(ascii: "\"") else { return nil }
        place += 1
        // Up to the first escape the text stands there as it is.
        let start = place
        while let byte, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { place += 1 }
        if byte == UInt8(ascii: "\"") {
            place += 1
            return text(bytes[start..<(place - 1)])
        }
        var unescaped = Array(bytes[start..<place])
        while let byte, byte >= 0x20 {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return text(unescaped[...])
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                unescaped.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: unescaped.append(byte)
            }
        }
        return nil
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String? {
        repairs ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte else { return nil }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return unicodeEscape()
        default: return nil
        }
    }

    /// Four hexadecimal digits, or two groups of them that make a surrogate pair.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        guard let unit = hexUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let afterFirst = place
        if unit < 0xDC00, word("\\u"), let low = hexUnit(), (0xDC00...0xDFFF).contains(low) {
            return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        }
        place = afterFirst
        return repairs ? "\u{FFFD}" : nil
    }

    private mutating func hexUnit() -> UInt32? {
        let group = bytes[place...].prefix(4)
        guard group.count == 4 else { return nil }
        var unit: UInt32 = 0
        for byte in group {
            switch byte {
            case 0x30...0x39: unit = unit << 4 + UInt32(byte - 0x30)
            case 0x41...0x46: unit = unit << 4 + UInt32(byte - 0x37)
            case 0x61...0x66: unit = unit << 4 + UInt32(byte - 0x57)
            default: return nil
            }
        }
        place += 4
        return unit
    }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        skipSpace()
        guard byte == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let text = word.description.utf8
        guard bytes[place...].starts(with: text) else { return false }
        place += text.count
        return true
    }
}
