import Curl
import Delivery
import TestSupport
import Testing
import WebhookChannel

@Suite struct `the target of a form by HTTP` {
    /// Whether no webhook could ever be sent there.
    private func isRefused(_ url: String, allow: [String] = []) throws -> Bool {
        let places = try allow.map { try AddressException($0) }
        do {
            _ = try HTTPTarget(try HTTPReach(url: try HTTPAddress(url), allow: places))
            return false
        } catch {
            return true
        }
    }

    @Test func `is https, or named under allow`() throws {
        #expect(try !isRefused("https://example.org/hook"))
        #expect(try isRefused("http://example.org/hook"))
        #expect(try !isRefused("http://example.org/hook", allow: ["example.org"]))
        #expect(try !isRefused("http://EXAMPLE.org/hook", allow: ["example.org"]))
        #expect(try isRefused("http://a.example.org/hook", allow: ["example.org"]))
        // The name may resolve into the range: that is seen at connect.
        #expect(try !isRefused("http://example.org/hook", allow: ["10.0.0.0/8"]))
        #expect(try isRefused("ftp://example.org/"))
        #expect(try isRefused("https://"))
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "192.168.1.1:8443", "[::1]",
        "[::ffff:10.0.0.1]", "user:pass@1.1.1.1",
    ])
    func `is no private address, however it is written`(host: String) throws {
        #expect(try isRefused("https://\(host)/"))
        #expect(try isRefused("http://\(host)/"))
    }

    @Test func `may be a private address that allow names`() throws {
        #expect(try !isRefused("http://127.0.0.1:99/", allow: ["127.0.0.1/32"]))
        #expect(try !isRefused("http://[::ffff:127.0.0.1]:99/", allow: ["127.0.0.1/32"]))
        #expect(try isRefused("http://127.0.0.2/", allow: ["127.0.0.1/32"]))
        #expect(try !isRefused("https://192.168.7.7/", allow: ["10.0.0.0/8", "192.168.0.0/16"]))
        #expect(try !isRefused("https://1.1.1.1/"))
    }

    @Test func `is shown as scheme, host and port`() throws {
        let reach = try HTTPReach(
            url: try HTTPAddress("https://Hooks.example.org:8443/T0/token?key=secret"))
        #expect(try HTTPTarget(reach).shown == "https://hooks.example.org:8443")
    }
}

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
