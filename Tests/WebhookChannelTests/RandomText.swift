import Curl
import Delivery
import TestSupport
import Testing
import Timeline
import WebhookChannel

/// Parsers of what people and servers write are given texts nobody would.
@Suite struct `a random text` {
    /// `count` texts put together from `pieces`; the same for the same seed.
    private func texts(_ count: Int, seed: UInt64, from pieces: [String]) -> [String] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...9, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
        }
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func `never becomes a wait without end`(seed: UInt64) {
        let now = Moment(seconds: 1_800_000_000)
        let pieces = [
            "Sun", ",", " ", " ", "06", "31", "Nov", "Feb", "1994", "94", "9999", "-", "08:49:37", "24:00:00",
            "GMT",
            "9", "99999999", ".", "e", "+", "é",
        ]
        for text in texts(2000, seed: seed, from: pieces) {
            guard let wait = RetryAfter.parse(text, now: now) else { continue }
            #expect(abs(wait.microseconds) < 400_000_000_000_000_000, "seed \(seed): \(text)")
        }
    }

    @Test(arguments: [7, 8] as [UInt64])
    func `is no way around the rules of addresses`(seed: UInt64) throws {
        let pieces = [
            "http", "https", "://", ":", "/", "//", "@", "127.0.0.1", "10.0.0.1", "example.org", "[::1]",
            "%31",
            "#", "?", "\\", "2130706433", "0x7f", ".1", "\t", "é",
        ]
        for text in texts(2000, seed: seed, from: pieces) {
            guard let url = try? HTTPAddress(text), let reach = try? HTTPReach(url: url),
                let target = try? HTTPTarget(reach), let parts = CurlURL(text)
            else { continue }
            // What passes without exceptions is encrypted, and is a name or a public address.
            #expect(parts.scheme == "https", "seed \(seed): \(text)")
            #expect(parts.address.map { AddressRange.isPublic($0.bytes) } != false, "seed \(seed): \(text)")
            #expect(!target.shown.contains("@"), "seed \(seed): \(text)")
        }
    }
}
