/// The members of one JSON object, read strictly; what is nested is checked and skipped.
///
/// Enough for a line a job writes, and no more: the standard library has no JSON, and jobs may write
/// anything, so depth is bounded and nothing is guessed.
///
/// - Source: RFC 8259.
struct FlatJSON {
    /// The value of a member.
    enum Value: Hashable {
        case text(String)
        case number(Double)
        case flag(Bool)
        case null
        /// An object or an array.
        case nested
    }

    /// The deepest nesting that is read; deeper lines are refused.
    static let depthLimit = 8

    /// The members by name; of two with one name, the later.
    let members: [String: Value]

    /// Reads one object with nothing but white space around it.
    ///
    /// - Returns: `nil` when `bytes` are anything else.
    init?(_ bytes: ArraySlice<UInt8>) {
        var scanner = Scanner(rest: bytes)
        guard let members = scanner.object(depth: 1) else { return nil }
        scanner.skipSpace()
        guard scanner.rest.isEmpty else { return nil }
        self.members = members
    }

    /// The number of that name, if it is one.
    func number(_ name: String) -> Double? {
        if case .number(let number)? = members[name] { number } else { nil }
    }

    /// The text of that name, if it is one.
    func text(_ name: String) -> String? {
        if case .text(let text)? = members[name] { text } else { nil }
    }
}

extension FlatJSON {
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func object(depth: Int) -> [String: Value]? {
            guard depth <= FlatJSON.depthLimit, take("{") else { return nil }
            var members: [String: Value] = [:]
            if take("}") { return members }
            repeat {
                skipSpace()
                guard let name = string(), take(":"), let value = value(depth: depth) else { return nil }
                members[name] = value
            } while take(",")
            return take("}") ? members : nil
        }

        mutating func value(depth: Int) -> Value? {
            skipSpace()
            switch rest.first {
            case UInt8(ascii: "{"): return object(depth: depth + 1).map { _ in .nested }
            case UInt8(ascii: "["): return array(depth: depth + 1) ? .nested : nil
            case UInt8(ascii: "\""): return string().map(Value.text)
            case UInt8(ascii: "t"): return word("true") ? .flag(true) : nil
            case UInt8(ascii: "f"): return word("false") ? .flag(false) : nil
            case UInt8(ascii: "n"): return word("null") ? .null : nil
            default: return number().map(Value.number)
            }
        }

        mutating func array(depth: Int) -> Bool {
            guard depth <= FlatJSON.depthLimit, take("[") else { return false }
            if take("]") { return true }
            repeat {
                guard value(depth: depth) != nil else { return false }
            } while take(",")
            return take("]")
        }

        mutating func number() -> Double? {
            let start = rest
            if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            let leading = rest.first
            let whole = digits()
            guard whole > 0, leading != UInt8(ascii: "0") || whole == 1 else { return nil }
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                guard digits() > 0 else { return nil }
            }
            if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
                rest.removeFirst()
                if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
                guard digits() > 0 else { return nil }
            }
            let text = start[start.startIndex..<rest.startIndex]
            guard text.count <= 64, let number = Double(String(decoding: text, as: UTF8.self)) else {
                return nil
            }
            return number.isFinite ? number : nil
        }

        private mutating func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest.removeFirst(count)
            return count
        }

        mutating func string() -> String? {
            guard rest.first == UInt8(ascii: "\"") else { return nil }
            rest.removeFirst()
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escape() else { return nil }
                    bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                case 0..<0x20: return nil
                default: bytes.append(byte)
                }
            }
            return nil
        }

        private mutating func escape() -> Unicode.Scalar? {
            switch rest.popFirst() {
            case UInt8(ascii: "\""): return "\""
            case UInt8(ascii: "\\"): return "\\"
            case UInt8(ascii: "/"): return "/"
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{C}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "u"): return unicodeEscape()
            default: return nil
            }
        }

        /// Four hexadecimal digits, or two groups of them that make a surrogate pair; a surrogate alone
        /// becomes the replacement character.
        private mutating func unicodeEscape() -> Unicode.Scalar? {
            guard let unit = hexUnit() else { return nil }
            guard (0xD800...0xDBFF).contains(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
            let afterFirst = rest
            if word("\\u"), let low = hexUnit(), (0xDC00...0xDFFF).contains(low) {
                return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
            }
            rest = afterFirst
            return "\u{FFFD}"
        }

        private mutating func hexUnit() -> UInt32? {
            let group = rest.prefix(4)
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
            rest.removeFirst(4)
            return unit
        }

        mutating func skipSpace() {
            while let byte = rest.first, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D {
                rest.removeFirst()
            }
        }

        private mutating func take(_ mark: Unicode.Scalar) -> Bool {
            skipSpace()
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func word(_ word: StaticString) -> Bool {
            let text = word.description.utf8
            guard rest.starts(with: text) else { return false }
            rest.removeFirst(text.count)
            return true
        }
    }
}
