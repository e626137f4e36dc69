package import Timeline

/// Identifiers that are unique without asking anybody, in the form of RFC 9562.
package enum UniqueID {
    /// A version 7 id: sorts by `moment`, to a quarter of a microsecond's 4096 steps a millisecond.
    ///
    /// - Source: RFC 9562, section 5.7, with method 3 of 6.2 (the sub-millisecond fraction).
    package static func v7(at moment: Moment) -> String {
        var bytes = RandomBytes.make(16)
        let milliseconds = UInt64(max(0, moment.milliseconds))
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index)) }
        let fraction = UInt64(max(0, moment.microseconds) % 1000) * 4096 / 1000
        bytes[6] = 0x70 | UInt8(fraction >> 8)
        bytes[7] = UInt8(truncatingIfNeeded: fraction)
        bytes[8] = 0x80 | (bytes[8] & 0x3F)
        return text(bytes)
    }

    /// A version 4 id: 122 random bits.
    package static func v4() -> String {
        var bytes = RandomBytes.make(16)
        bytes[6] = 0x40 | (bytes[6] & 0x0F)
        bytes[8] = 0x80 | (bytes[8] & 0x3F)
        return text(bytes)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        // SAFE: writes exactly the 36 bytes that the string has room for.
        unsafe String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    unsafe text[place] = 0x2D
                    place += 1
                }
                unsafe text[place] = hexDigit(byte >> 4)
                unsafe text[place + 1] = hexDigit(byte & 0x0F)
                place += 2
            }
            return place
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
