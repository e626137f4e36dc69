/// Bytes as text of 64 letters, padded.
///
/// - Source: RFC 4648, section 4.
package enum Base64 {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
    private static let pad = UInt8(ascii: "=")

    /// The text of these bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let value = Int(word >> UInt32(18 - 6 * place) & 63)
                text.append(place <= group.count ? letters[value] : pad)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text; nil where it is none of whole groups of four letters.
    package static func decode(_ text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3)
        for start in stride(from: 0, to: letters.count, by: 4) {
            var group = letters[start..<start + 4]
            while start + 4 == letters.count, group.count > 2, group.last == pad { group.removeLast() }
            var word: UInt32 = 0
            for letter in group {
                let value = values[Int(letter)]
                guard value < 64 else { return nil }
                word = word << 6 | UInt32(value)
            }
            word <<= UInt32(6 * (4 - group.count))
            for place in 0..<group.count - 1 {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * place)))
            }
        }
        return bytes
    }
}
