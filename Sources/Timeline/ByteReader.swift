/// Reads a text's bytes from left to right; used by the parsers of this target.
struct ByteReader {
    let bytes: [UInt8]
    var position = 0

    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    /// The byte at the position, 0 at the end.
    var current: UInt8 { isAtEnd ? 0 : bytes[position] }

    /// Steps over `byte` if it is next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard !isAtEnd, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// The digits from here, at most `limit` of them, as a number; `nil` when there is none.
    mutating func number(limit: Int) -> (value: Int, digits: Int)? {
        let start = position
        var value = 0
        while !isAtEnd, position - start < limit, bytes[position].isDigit {
            value = value * 10 + Int(bytes[position] - 0x30)
            position += 1
        }
        return position == start ? nil : (value, position - start)
    }
}

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }
}
