import Delivery
import Testing

/// Ways to write this machine, its networks and its cloud's secrets, none of which a webhook may reach unasked.
@Suite struct `the guard of addresses` {
    private static let hosts = [
        // As everybody writes them.
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1",
        "127.0.0.2", "127.255.255.255", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1",
        "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        // As some parsers read them.
        "127.1", "127.0.1", "0", "1", "00", "2130706433", "017700000001", "0x7f000001", "0x7f.1",
        "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "127.000.000.001", "010.0.0.1", "3232235521", "0xa9fea9fe",
        "169.254.43518", "0x0", "1.2.3.256",
        // Of version 6, and of version 4 within.
        "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::127.0.0.1]",
        "[::10.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:192.168.1.1]",
        "[::ffff:169.254.169.254]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]",
        "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2001::1]", "[2001:2::1]", "[2001:db8::1]",
        "[100::1]", "[fc00::1]", "[fd00::1]", "[fdff:ffff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]",
        "[ff02::1]", "[ff05::2]", "[fe80::1%25eth0]", "[::1%25lo]",
        // With letters, users and escapes in the way.
        "127。0。0。1", "①②⑦.⓪.⓪.①", "example.org@127.0.0.1", "user:secret@127.0.0.1",
        "127.0.0.1\\@example.org", "127%2e0%2e0%2e1", "loc%61lhost", " 127.0.0.1",
    ]

    @Test func `has eighty hosts and more to hold against`() {
        #expect(Set(Self.hosts).count == Self.hosts.count && Self.hosts.count >= 80)
    }

    @Test(arguments: hosts)
    func `refuses before anything is resolved`(host: String) {
        #expect(throws: FormError.self) { try HTTPReach(url: HTTPAddress("https://\(host)/hook")) }
    }

    /// What a name leads to is judged when it is connected to: another answer of its server then changes nothing.
    @Test(arguments: ["localhost", "localhost.localdomain", "metadata.google.internal", "127.0.0.1.nip.io"])
    func `refuses the addresses behind a name when it connects`(host: String) throws {
        let reach = try HTTPReach(url: HTTPAddress("https://\(host)/hook"))
        for address in ["127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1", "10.0.0.1"] {
            let bytes = try #require(AddressRange.bytes(of: address))
            #expect(!reach.mayConnect(to: bytes), "\(address)")
        }
    }
}
