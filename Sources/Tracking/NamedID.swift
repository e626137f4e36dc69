/// Ids that are always the same for one name: whoever asks again after a crash asks under it.
package enum NamedID {
    /// A version 8 id in the form of RFC 9562.
    ///
    /// - Source: RFC 9562, section 5.8; two FNV-1a hashes.
    package static func of(_ name: String) -> String {
        func hash(_ start: UInt64) -> UInt64 {
            name.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        let high = hash(0xCBF2_9CE4_8422_2325) & ~0xF000 | 0x8000
        let low = hash(0x9E37_79B9_7F4A_7C15) & ~(0b11 << 62) | 0b10 << 62
        let digits = [high, low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
