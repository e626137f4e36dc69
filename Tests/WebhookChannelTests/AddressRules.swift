import Curl
import Testing
import WebhookChannel

@Suite struct `a public address` {
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.1", "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.255",
        "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7",
        "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "fe80::1", "febf::1", "fc00::1", "fdff:ffff::1", "fec0::1", "ff02::1",
        "2001:db8::1", "3fff::1", "3fff:fff:ffff::1", "100::1", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
        "2002::1",
        "2002:7f00:1::", "2001::1", "5f00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
    ])
    func `is none that leads back inside`(text: String) throws {
        #expect(!PublicAddress.contains(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00::1",
        "2001:1::1", "2003::1", "3ffe::1", "::ffff:1.1.1.1",
    ])
    func `is every other`(text: String) throws {
        #expect(PublicAddress.contains(try #require(IPAddress(text))))
    }
}

@Suite struct `a network` {
    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("127.0.0.1/32", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("::/0", "8.8.8.8", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ("::1", "::1", true), ("::/128", "::1", false),
    ])
    func `contains what shares its prefix`(network: String, address: String, isInside: Bool) throws {
        let network = try #require(Network(network))
        #expect(network.contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.1/8", "::/129", "a/8", "10/8",
    ])
    func `is not read from other text`(text: String) {
        #expect(Network(text) == nil)
    }
}

@Suite struct `an allowed place` {
    @Test func `is an address, a range or an exact host`() throws {
        #expect(AllowedPlace("127.0.0.1") == .network(try #require(Network("127.0.0.1/32"))))
        #expect(AllowedPlace("fd00::/8") == .network(try #require(Network("fd00::/8"))))
        #expect(AllowedPlace("Host.Example") == .host("host.example"))
        #expect(AllowedPlace("build_box-1") == .host("build_box-1"))
    }

    @Test(arguments: [
        "", "*", "*.example.org", "a b", "10.0.0.1/8", "10.0.0", "256.1.1.1", "a..b", ".a", "http://a",
    ])
    func `is nothing else`(text: String) {
        #expect(AllowedPlace(text) == nil)
    }
}

@Suite struct `a webhook's target` {
    private func refusal(_ url: String, allow: [String] = []) throws -> WebhookTargetError? {
        let places = try allow.map { try #require(AllowedPlace($0)) }
        do throws(WebhookTargetError) {
            _ = try WebhookTarget(url: url, allow: places)
            return nil
        } catch {
            return error
        }
    }

    private func place(_ ip: String, _ port: UInt16) throws -> WebhookTargetError {
        .addressRefused(SocketAddress(ip: try #require(IPAddress(ip)), port: port))
    }

    @Test func `is https, or named under allow`() throws {
        #expect(try refusal("https://example.org/hook") == nil)
        #expect(try refusal("http://example.org/hook") == .notEncrypted)
        #expect(try refusal("http://example.org/hook", allow: ["example.org"]) == nil)
        #expect(try refusal("http://EXAMPLE.org/hook", allow: ["example.org"]) == nil)
        #expect(try refusal("http://a.example.org/hook", allow: ["example.org"]) == .notEncrypted)
        // The name may resolve into the range: that is seen at connect.
        #expect(try refusal("http://example.org/hook", allow: ["10.0.0.0/8"]) == nil)
        #expect(try refusal("ftp://example.org/") == .notAnAddress)
        #expect(try refusal("https://") == .notAnAddress)
    }

    @Test func `is no private address, however it is written`() throws {
        let home = try place("127.0.0.1", 80)
        for host in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "user:pass@127.0.0.1"] {
            #expect(try refusal("http://\(host)/") == home, "\(host)")
        }
        #expect(try refusal("https://192.168.1.1:8443/") == place("192.168.1.1", 8443))
        #expect(try refusal("https://[::1]/") == place("::1", 443))
        #expect(try refusal("https://[::ffff:10.0.0.1]/") == place("::ffff:10.0.0.1", 443))
        #expect(try refusal("https://1.1.1.1/") == nil)
        #expect(try refusal("http://1.1.1.1/") == place("1.1.1.1", 80))
    }

    @Test func `may be a private address that allow names`() throws {
        #expect(try refusal("http://127.0.0.1:99/", allow: ["127.0.0.1/32"]) == nil)
        #expect(try refusal("http://[::ffff:127.0.0.1]:99/", allow: ["127.0.0.1/32"]) == nil)
        #expect(try refusal("http://127.0.0.2/", allow: ["127.0.0.1/32"]) == place("127.0.0.2", 80))
        #expect(try refusal("https://192.168.7.7/", allow: ["10.0.0.0/8", "192.168.0.0/16"]) == nil)
    }

    @Test func `opens no door but the one it names`() throws {
        let named = try WebhookTarget(
            url: "https://example.org/", allow: [try #require(AllowedPlace("192.168.1.0/24"))])
        #expect(named.allows(SocketAddress(ip: try #require(IPAddress("192.168.1.9")), port: 443)))
        #expect(!named.allows(SocketAddress(ip: try #require(IPAddress("192.168.2.9")), port: 443)))
        #expect(named.allows(SocketAddress(ip: try #require(IPAddress("1.1.1.1")), port: 443)))
    }

    @Test func `is shown as scheme and host`() throws {
        let url = "https://user:pass@Hooks.example.org:8443/T0/token?key=secret#part"
        #expect(try WebhookTarget(url: url).shown == "https://hooks.example.org")
        #expect(try WebhookTarget(url: "https://1.1.1.1/token").shown == "https://1.1.1.1")
        #expect(try WebhookTarget(url: "https://[2606:4700::1111]/t").shown == "https://[2606:4700::1111]")
    }
}
