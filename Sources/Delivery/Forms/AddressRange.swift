/// A network of the internet protocol: the addresses that begin with the same bits.
package struct AddressRange: Hashable, Sendable {
    /// Four or sixteen bytes, the highest first.
    package let bytes: [UInt8]
    /// How many leading bits are the same.
    package let prefix: Int

    /// Reads `10.0.0.0/8`, `fc00::/7`, or a single address; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = parts.first.flatMap({ Self.bytes(of: String($0)) }) else { return nil }
        guard parts.count == 2 else {
            self.init(bytes: bytes, prefix: bytes.count * 8)
            return
        }
        guard let prefix = Self.number(parts[1], radix: 10, digits: 3), prefix <= bytes.count * 8 else {
            return nil
        }
        self.init(bytes: bytes, prefix: prefix)
    }

    private init(bytes: [UInt8], prefix: Int) {
        // Addresses are judged as version 4 when they can be, so a network is one of version 4 as well.
        let isMapped = bytes.count == 16 && prefix >= 96 && Self.unmapped(bytes).count == 4
        self.bytes = isMapped ? Self.unmapped(bytes) : bytes
        self.prefix = isMapped ? prefix - 96 : prefix
    }

    /// Whether `address` (four or sixteen bytes) lies within; an address of version 4 that is written as
    /// one of version 6 is judged as version 4.
    package func contains(_ address: [UInt8]) -> Bool {
        let address = Self.unmapped(address)
        guard address.count == bytes.count else { return false }
        let whole = prefix / 8
        guard address.prefix(whole) == bytes.prefix(whole) else { return false }
        guard prefix % 8 != 0 else { return true }
        return (address[whole] ^ bytes[whole]) >> (8 - prefix % 8) == 0
    }

    /// The bytes of a single address as people write it; `nil` for anything else.
    package static func bytes(of text: String) -> [UInt8]? {
        text.contains(":") ? version6(text) : version4(text[...])
    }

    /// The version 4 address within `::ffff:a.b.c.d`, else the address itself.
    private static func unmapped(_ address: [UInt8]) -> [UInt8] {
        let marker: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return address.count == 16 && address.starts(with: marker) ? Array(address[12...]) : address
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { number($0, radix: 10, digits: 3).flatMap(UInt8.init(exactly:)) }
        // A leading zero is read as octal by some libraries: such an address means two things.
        guard numbers.count == 4, parts.count == 4,
            parts.allSatisfy({ $0.count == 1 || !$0.hasPrefix("0") })
        else { return nil }
        return numbers
    }

    private static func version6(_ text: String) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            return groups(text[...]).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// The bytes of groups between colons, the last of which may be an address of version 4.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains("."), let last = version4(part) {
                bytes += last
            } else if let value = number(part, radix: 16, digits: 4) {
                bytes += [UInt8(value >> 8), UInt8(value & 0xFF)]
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func number(_ text: Substring, radix: Int, digits: Int) -> Int? {
        guard (1...digits).contains(text.utf8.count), text.first?.isHexDigit == true else { return nil }
        return Int(text, radix: radix)
    }
}

extension AddressRange {
    /// Whether `address` is one that the whole internet reaches: none of the private, local, shared,
    /// reserved or translated networks.
    ///
    /// - Source: the union of the deny lists of Smokescreen and Svix; IANA special-purpose registries.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        !reserved.contains { $0.contains(address) }
    }

    private static let reserved: [AddressRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "fe80::/10", "fec0::/10", "fc00::/7", "ff00::/8", "2001:db8::/32", "3fff::/20", "100::/64",
        "100:0:0:1::/64", "64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "2002::/16", "2001::/23",
        "5f00::/16",
    ].compactMap { AddressRange($0) }
}
