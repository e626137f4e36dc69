import Curl
import Delivery
import TestSupport
import Testing

/// The rules of addresses read them in pure Swift, the system in C: a text must mean the same to both.
@Suite struct `an address read twice` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `is the same one, or none to either`(seed: UInt64) {
        let pieces = ["0", "1", "10", "127", "255", "256", ".", ".", "8", ":", "::", "ffff", "a", "-", " "]
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let bytes = AddressRange.bytes(of: text)
            #expect(bytes == IPAddress(text)?.bytes, "seed \(seed): \(text)")
            if bytes != nil { read += 1 }
        }
        #expect(read > 20)
    }
}
