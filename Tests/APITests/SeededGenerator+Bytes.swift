import TestSupport

extension SeededGenerator {
    /// `count` bytes; every third time of a few that mean something to a parser of HTTP.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let likely = Array("\r\n: \0{}\"01aGETHTTP/1.\u{e9}".utf8)
        return (0..<count).map { _ in
            let word = next()
            return word % 3 == 0
                ? likely[Int(word >> 8) % likely.count] : UInt8(truncatingIfNeeded: word >> 16)
        }
    }
}
