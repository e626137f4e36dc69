/// A line of `cron next|prev|check --stdin`.
///
/// Read by hand: a general decoder would take most of the time of an answer.
struct CronRequest {
    static let null = Array("null".utf8)

    /// The id as it was written, `null` when there is none.
    private(set) var id = Self.null
    private(set) var expression: String?
    private(set) var zone: String?
    private(set) var from: String?
    private(set) var count: Int?
    private(set) var direction: String?
    private(set) var isLenient = false

    /// Reads one JSON object; `nil` when `line` is anything else, or a member is of another type.
    init?(_ line: ArraySlice<UInt8>) {
        var scanner = Scanner(rest: line)
        guard scanner.take("{") else { return nil }
        guard !scanner.take("}") else {
            if !scanner.isAtEnd { return nil }
            return
        }
        repeat {
            guard let name = scanner.text(), scanner.take(":"), read(name, &scanner) else { return nil }
        } while scanner.take(",")
        guard scanner.take("}"), scanner.isAtEnd else { return nil }
    }

    private mutating func read(_ name: String, _ scanner: inout Scanner) -> Bool {
        let start = scanner.rest
        guard let value = scanner.scalar() else { return false }
        switch (name, value) {
        case ("id", _):
            id = start[..<scanner.rest.startIndex].filter { $0 > 0x20 || value.isText }
            if value.isText, let first = id.firstIndex(of: UInt8(ascii: "\"")) { id.removeFirst(first) }
        case (_, .null): break
        case ("expr", .text(let text)): expression = text
        case ("zone", .text(let text)): zone = text
        case ("from", .text(let text)): from = text
        case ("direction", .text(let text)): direction = text
        case ("n", .number(let number?)): count = number
        case ("lenient", .flag(let flag)): isLenient = flag
        case ("expr", _), ("zone", _), ("from", _), ("direction", _), ("n", _), ("lenient", _): return false
        default: break
        }
        return true
    }
}

private enum Scalar {
    case text(String)
    /// `nil` for a number that is not whole.
    case number(Int?)
    case flag(Bool)
    case null

    var isText: Bool { if case .text = self { true } else { false } }
}

/// Reads the parts of a flat JSON object.
private struct Scanner {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return rest.isEmpty
        }
    }

    mutating func skipSpace() {
        while let byte = rest.first, byte == 0x20 || byte == 0x09 || byte == 0x0D { rest.removeFirst() }
    }

    mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == UInt8(ascii: sign) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func scalar() -> Scalar? {
        skipSpace()
        if rest.first == UInt8(ascii: "\"") { return text().map(Scalar.text) }
        let word = rest.prefix { byte in
            byte != UInt8(ascii: ",") && byte != UInt8(ascii: "}") && byte > 0x20 && byte < 0x7F
        }
        rest = rest[word.endIndex...]
        switch String(decoding: word, as: UTF8.self) {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "null": return .null
        case let digits: return Self.isNumber(word) ? .number(Int(digits)) : nil
        }
    }

    /// Whether `word` is a number of JSON: `-12.5e+3`.
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func digits() -> Int {
            let found = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(found)
            return found
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || whole > 1 && !startsWithZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits() > 0 else { return false }
        }
        if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// A JSON text; nil when there is none or it is malformed.
    mutating func text() -> String? {
        guard take("\"") else { return nil }
        guard
            let quote = rest.firstIndex(where: {
                $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 < 0x20
            })
        else { return nil }
        if rest[quote] == UInt8(ascii: "\"") {
            defer { rest = rest[(quote + 1)...] }
            return String(validating: rest[..<quote], as: UTF8.self)
        }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
            case 0..<0x20: return nil
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                bytes += String(scalar).utf8
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            guard let high = unit() else { return nil }
            if let scalar = Unicode.Scalar(high) { return scalar }
            guard (0xD800..<0xDC00).contains(high), rest.starts(with: "\\u".utf8) else { return nil }
            rest = rest.dropFirst(2)
            guard let low = unit(), (0xDC00..<0xE000).contains(low) else { return nil }
            return Unicode.Scalar(0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        case let byte? where "\"\\/".utf8.contains(byte): return Unicode.Scalar(byte)
        default: return nil
        }
    }

    private mutating func unit() -> UInt16? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4, !digits.contains(UInt8(ascii: "+")) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
