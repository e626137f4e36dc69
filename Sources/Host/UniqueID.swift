import CLinux
import Glibc
import Synchronization
package import Timeline

/// Identifiers that are unique without asking anybody, in the form of RFC 9562.
package enum UniqueID {
    /// A version 7 id: sorts by `moment`, to a quarter of a microsecond's 4096 steps a millisecond.
    ///
    /// - Source: RFC 9562, section 5.7, with method 3 of 6.2 (the sub-millisecond fraction).
    package static func v7(at moment: Moment) -> String {
        let milliseconds = UInt64(max(0, moment.milliseconds))
        let fraction = UInt64(max(0, moment.microseconds) % 1000) * 4096 / 1000
        return text(milliseconds << 16 | 0x7000 | fraction, variant(RandomBytes.word()))
    }

    /// A version 4 id: 122 random bits.
    package static func v4() -> String {
        text(RandomBytes.word() & ~0xF000 | 0x4000, variant(RandomBytes.word()))
    }

    /// With the two bits of the variant.
    ///
    /// - Source: RFC 9562, section 4.1.
    private static func variant(_ low: UInt64) -> UInt64 { low & ~(0b11 << 62) | 0b10 << 62 }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        // SAFE: writes exactly the 36 bytes that the string has room for.
        unsafe String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    unsafe text[place] = 0x2D
                    place += 1
                }
                let digits = (index < 16 ? high : low) >> (60 - 4 * (index & 15))
                unsafe text[place] = hexDigit(UInt8(truncatingIfNeeded: digits) & 0xF)
                place += 1
            }
            return place
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}

/// Random numbers from the kernel.
package enum RandomBytes {
    /// What one call of the kernel brought and nobody has had yet.
    private static let store = Mutex<[UInt64]>([])
    /// The most that `getrandom` never gives a part of only, in words.
    private static let most = 256 / 8

    /// Eight bytes that nobody can guess.
    ///
    /// Asked for many at a time, which costs the kernel hardly more than a few; none is given out twice. A process that
    /// forks without `exec` must not use it on both sides: ours never do.
    package static func word() -> UInt64 {
        store.withLock { store in
            if store.isEmpty { store = fetch() }
            return store.removeLast()
        }
    }

    /// The corresponding C function is `getrandom`, which cannot fail for so few once the machine is up.
    private static func fetch() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: most)
        while unsafe getrandom(&words, most * 8, 0) != most * 8 {}
        return words
    }
}
