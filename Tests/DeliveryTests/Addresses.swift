import Delivery
import TestSupport
import Testing

@Suite struct `an http address` {
    @Test(arguments: [
        ("https://example.org/hooks/belfry", true, "example.org", 443),
        ("HTTPS://Example.ORG", true, "example.org", 443),
        ("https://example.org:8443?token=x", true, "example.org", 8443),
        ("http://127.0.0.1:8080/a%20b", false, "127.0.0.1", 8080),
        ("http://[::1]:9000/", false, "::1", 9000),
        ("https://[2001:DB8::1]/", true, "2001:db8::1", 443),
    ])
    func `is taken apart`(_ text: String, _ isSecure: Bool, _ host: String, _ port: Int) throws {
        let url = try HTTPAddress(text)
        #expect((url.isSecure, url.host, url.port) == (isSecure, host, port))
        #expect(url.text == text)
    }

    @Test(arguments: [
        ("ftp://example.org", FormError.unknownScheme(0..<8)),
        ("", .unknownScheme(0..<0)),
        ("https://", .badHost(8..<8)),
        ("https://bob:pw@example.org/", .secretInURL(8..<15)),
        ("https://exa mple.org/", .badHost(8..<20)),
        ("https://example..org/", .badHost(8..<20)),
        ("https://[::1/", .badHost(8..<12)),
        ("https://127.1/", .badHost(8..<13)),
        ("https://2130706433/", .badHost(8..<18)),
        ("https://0x7F000001/", .badHost(8..<18)),
        ("https://0177.0.0.1/", .badHost(8..<18)),
        ("https://256.0.0.1/", .badHost(8..<17)),
        ("https://[1.2.3.4]/", .badHost(8..<17)),
        ("https://example.org:0/", .badPort(19..<21)),
        ("https://example.org:65536/", .badPort(19..<25)),
        ("https://example.org:/", .badPort(19..<20)),
        ("https://[::1]x/", .badPort(13..<14)),
        ("https://example.org/a#b", .badTarget(21..<22)),
        ("https://example.org/a\nb", .badTarget(21..<22)),
    ])
    func `is refused with the bytes at fault`(_ text: String, _ error: FormError) {
        #expect(throws: error) { try HTTPAddress(text) }
    }

    @Test func `never shows its path, where a token may be`() throws {
        let url = try HTTPAddress("https://example.org:8443/secret-token?key=secret")
        #expect("\(url)" == "https://example.org:8443")
        for usual in ["https://example.org/x", "https://example.org:443/x", "http://example.org:80/x"] {
            #expect(try !HTTPAddress(usual).shown.hasSuffix("0") && !HTTPAddress(usual).shown.hasSuffix("3"))
        }
    }

    @Test func `is read or refused whatever it is`() {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("https://[]:@.#?a1é\u{0} ")
        for _ in 0..<5000 {
            let tail = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            let text = "https://" + String(tail)
            do {
                let url = try HTTPAddress(text)
                #expect(!url.host.isEmpty && (1...65535).contains(url.port), "\(text)")
            } catch {
                let range = error.range ?? 0..<0
                #expect(range.upperBound <= text.utf8.count, "\(text)")
            }
        }
    }
}

@Suite struct `the reach of a form` {
    @Test func `refuses plain http but to its exceptions`() throws {
        let http = try HTTPAddress("http://127.0.0.1:8080/")
        #expect(throws: FormError.plainHTTP(host: "127.0.0.1")) { try HTTPReach(url: http) }
        _ = try HTTPReach(url: http, allow: [AddressException("127.0.0.0/8")])
        _ = try HTTPReach(url: HTTPAddress("http://hook.lan/"), allow: [AddressException("hook.lan")])
        _ = try HTTPReach(url: HTTPAddress("http://hook.lan/"), allow: [AddressException("10.0.0.0/8")])
        #expect(throws: FormError.plainHTTP(host: "hook.lan")) {
            try HTTPReach(url: HTTPAddress("http://hook.lan/"), allow: [AddressException("other.lan")])
        }
    }

    @Test func `connects to public addresses, and to others only by exception`() throws {
        let url = try HTTPAddress("https://example.org/")
        let open = try HTTPReach(url: url)
        let excepted = try HTTPReach(url: url, allow: [AddressException("10.1.0.0/16")])
        let named = try HTTPReach(url: url, allow: [AddressException("Example.org")])
        #expect(open.mayConnect(to: [93, 184, 216, 34]))
        #expect(!open.mayConnect(to: [10, 1, 2, 3]))
        #expect(excepted.mayConnect(to: [10, 1, 2, 3]))
        #expect(!excepted.mayConnect(to: [10, 2, 2, 3]))
        #expect(named.mayConnect(to: [127, 0, 0, 1]))
    }

    @Test func `in plain http connects to its exceptions only, also when the name leads elsewhere`() throws {
        let form = try HTTPReach(
            url: HTTPAddress("http://hook.lan/"), allow: [AddressException("10.0.0.0/8")])
        #expect(form.mayConnect(to: [10, 0, 0, 1]))
        #expect(!form.mayConnect(to: [93, 184, 216, 34]))
    }

    @Test func `refuses an address that is not public but to its exceptions`() throws {
        for host in ["127.0.0.1", "192.168.1.1", "[::1]", "[::ffff:10.0.0.1]"] {
            let url = try HTTPAddress("https://\(host):8443/")
            #expect(throws: FormError.notPublic(host: url.host)) { try HTTPReach(url: url) }
            _ = try HTTPReach(url: url, allow: [AddressException(url.host)])
        }
        _ = try HTTPReach(url: HTTPAddress("https://1.1.1.1/"))
    }

    @Test func `refuses timeouts that are none`() throws {
        let url = try HTTPAddress("https://example.org/")
        #expect(throws: FormError.badTimeout(.zero, longest: .seconds(120))) {
            try HTTPReach(url: url, timeout: .zero)
        }
        #expect(throws: FormError.badTimeout(.seconds(121), longest: .seconds(120))) {
            try HTTPReach(url: url, timeout: .seconds(121))
        }
    }

    @Test(arguments: ["", "10.0.0.0/33", "256.1.1.1", "a b", "::/129", "10.0.0.0/", "1.2.3", "010.0.0.1"])
    func `refuses an exception that names nothing`(_ text: String) {
        #expect(throws: FormError.badException(text)) { try AddressException(text) }
    }
}

@Suite struct `an address` {
    @Test(arguments: [
        ("0.0.0.0", false), ("9.255.255.255", true), ("10.0.0.0", false), ("100.63.255.255", true),
        ("100.64.0.1", false), ("127.0.0.1", false), ("169.254.169.254", false), ("172.15.0.1", true),
        ("172.16.0.1", false), ("172.31.255.255", false), ("172.32.0.1", true), ("192.0.1.1", true),
        ("192.168.1.1", false), ("198.20.0.1", true), ("223.255.255.255", true), ("224.0.0.1", false),
        ("255.255.255.255", false), ("8.8.8.8", true),
        ("::", false), ("::1", false), ("fe80::1", false), ("fd12::1", false), ("ff02::1", false),
        ("2001:db8::1", false), ("64:ff9b::7f00:1", false), ("::127.0.0.1", false), ("fec0::1", false),
        ("2002:7f00:1::", false), ("2001::1", false), ("2001:2::1", false), ("2001:200::1", true),
        ("100::1", false), ("100:0:0:1::1", false), ("::ffff:0:7f00:1", false), ("::ffff:0:10.0.0.1", false),
        ("2606:4700:4700::1111", true), ("::ffff:127.0.0.1", false), ("::ffff:8.8.8.8", true),
    ])
    func `is public or not`(_ text: String, _ isPublic: Bool) throws {
        let bytes = try #require(AddressRange.bytes(of: text))
        #expect(AddressRange.isPublic(bytes) == isPublic)
    }

    @Test(arguments: [
        ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8] as [UInt8]),
        ("::", [UInt8](repeating: 0, count: 16)),
        ("a::b", [0, 0xA] + [UInt8](repeating: 0, count: 12) + [0, 0xB]),
        ("::ffff:1.2.3.4", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4]),
    ])
    func `of version 6 is read`(_ text: String, _ bytes: [UInt8]) {
        #expect(AddressRange.bytes(of: text) == bytes)
    }

    @Test(arguments: [
        "1:2:3:4:5:6:7", "1::2::3", ":1", "1:", "12345::", "::g", "1:2:3:4:5:6:7:8:9", "::1.2.3", "+1::",
    ])
    func `of version 6 is refused when it is none`(_ text: String) {
        #expect(AddressRange.bytes(of: text) == nil)
    }
}

/// No webhook may reach ``PrivateHosts`` unasked, however they are written.
@Suite struct `the guard of addresses` {
    @Test func `has a hundred and ten hosts or more to hold against, each once`() {
        let hosts = PrivateHosts.all
        #expect(Set(hosts).count == hosts.count && hosts.count >= 110)
    }

    @Test(arguments: PrivateHosts.all + ["localhost."])
    func `refuses before anything is resolved`(host: String) {
        #expect(throws: FormError.self) { try HTTPReach(url: HTTPAddress("https://\(host)/hook")) }
    }

    /// What a name leads to is judged when it is connected to: another answer of its server then changes nothing.
    @Test(arguments: [
        "localhost", "LOCALHOST", "localhost.localdomain", "metadata.google.internal", "127.0.0.1.nip.io",
    ])
    func `refuses the addresses behind a name when it connects`(host: String) throws {
        let reach = try HTTPReach(url: HTTPAddress("https://\(host)/hook"))
        for address in ["127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1", "10.0.0.1"] {
            let bytes = try #require(AddressRange.bytes(of: address))
            #expect(!reach.mayConnect(to: bytes), "\(address)")
        }
    }
}
