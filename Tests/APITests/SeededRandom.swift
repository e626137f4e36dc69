/// The same sequence for the same seed, so that a failure can be run again.
///
/// - Source: Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// `count` bytes; every third time of a few that mean something to a parser of HTTP.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let telling = Array("\r\n: \0{}\"01aGETHTTP/1.\u{e9}".utf8)
        return (0..<count).map { _ in
            let word = next()
            return word % 3 == 0
                ? telling[Int(word >> 8) % telling.count] : UInt8(truncatingIfNeeded: word >> 16)
        }
    }
}
