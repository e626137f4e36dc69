/// An http or https address, taken apart.
package struct HTTPAddress: Hashable, Sendable {
    /// The address as it was written; may hold a token in its path, so it is never logged.
    package let text: String
    /// Whether it is https.
    package let isSecure: Bool
    /// The host in lower case; of an address of version 6 without the brackets.
    package let host: String
    /// The port; 443 or 80 when none was written.
    package let port: Int

    /// Scheme and host, and a port that is not the usual one: for logs and errors.
    package var shown: String {
        (isSecure ? "https://" : "http://") + (host.contains(":") ? "[\(host)]" : host)
            + (port == (isSecure ? 443 : 80) ? "" : ":\(port)")
    }

    /// What stands behind the host and the port, with the query; may hold a token.
    package var target: Substring {
        let rest = text.dropFirst(isSecure ? 8 : 7)
        return rest[(rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)...]
    }

    /// The address with `path`, which begins with a slash, behind its own; a query is left out.
    package func appending(_ path: String) -> String {
        var base = text.prefix { $0 != "?" }
        while base.hasSuffix("/") { base.removeLast() }
        return base + path
    }

    /// Reads an absolute http or https address without user, password or fragment.
    /// - Throws: ``FormError`` with the bytes at fault.
    package init(_ text: String) throws(FormError) {
        let bytes = Array(text.utf8)
        let lower = text.prefix(8).lowercased()
        guard lower == "https://" || lower.hasPrefix("http://") else {
            throw .unknownScheme(0..<min(bytes.count, 8))
        }
        let isSecure = lower == "https://"
        let start = isSecure ? 8 : 7
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        let authority = bytes[start..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { throw .secretInURL(start..<at + 1) }
        if let bad = bytes[end...].firstIndex(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "#") })
        {
            throw .badTarget(bad..<bad + 1)
        }
        let (host, port) = try Self.hostAndPort(bytes, start..<end)
        self.text = text
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// The host and the port, where one is written, of the authority in `range`.
    static func hostAndPort(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(FormError) -> (host: String, port: Int?) {
        let (host, afterHost) = try host(bytes, range)
        return (host, try port(bytes[afterHost..<range.upperBound]))
    }

    private static func host(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(FormError) -> (String, end: Int) {
        let part = bytes[range]
        if part.first == UInt8(ascii: "[") {
            let close = part.firstIndex(of: UInt8(ascii: "]")) ?? range.upperBound
            let inner = String(
                decoding: part[range.lowerBound + 1..<max(close, range.lowerBound + 1)], as: UTF8.self)
            guard close < range.upperBound, AddressRange.bytes(of: inner)?.count == 16 else {
                throw .badHost(range)
            }
            return (inner.lowercased(), close + 1)
        }
        let end = part.firstIndex(of: UInt8(ascii: ":")) ?? range.upperBound
        let name = String(decoding: part[range.lowerBound..<end], as: UTF8.self)
        guard isHost(name), !isOddAddress(name) else {
            throw .badHost(range.lowerBound..<max(end, range.lowerBound))
        }
        return (name.lowercased(), end)
    }

    /// Whether a host ends in a number without being an address as everybody writes it.
    ///
    /// `127.1`, `0x7f000001` and `2130706433` are names to one parser and this machine to another.
    /// - Source: WHATWG URL, "ends in a number".
    private static func isOddAddress(_ host: String) -> Bool {
        guard let last = host.split(separator: ".").last, AddressRange.bytes(of: host) == nil else {
            return false
        }
        let lower = last.lowercased()
        return lower.allSatisfy(\.isNumber)
            || (lower.hasPrefix("0x") && lower.dropFirst(2).allSatisfy(\.isHexDigit))
    }

    private static func port(_ bytes: ArraySlice<UInt8>) throws(FormError) -> Int? {
        guard let colon = bytes.first else { return nil }
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        guard colon == UInt8(ascii: ":"), bytes.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(text), (1...65535).contains(port)
        else { throw .badPort(bytes.startIndex..<bytes.endIndex) }
        return port
    }

    /// Whether `text` can be a host's name: letters, digits, `-`, `_` and dots between them.
    static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    }
            }
    }
}

extension HTTPAddress: CustomStringConvertible {
    /// As it is ``shown``: a log may hold this value.
    package var description: String { shown }
}

/// What may be reached although it is not public, or in plain http: an entry of a channel's `allow:`.
package enum AddressException: Hashable, Sendable {
    /// One host, by its exact name.
    case host(String)
    /// An address or a network.
    case network(AddressRange)

    /// Reads `127.0.0.1/32`, `fd00::/8`, `10.1.2.3` or `host.example`.
    /// - Throws: ``FormError/badException(_:)``.
    package init(_ text: String) throws(FormError) {
        if let range = AddressRange(text) {
            self = .network(range)
        } else if HTTPAddress.isHost(text), text.contains(where: \.isLetter) {
            self = .host(text.lowercased())
        } else {
            throw .badException(text)
        }
    }
}

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
        // Public by its number: what Azure answers a machine about itself.
        "168.63.129.16/32",
        "::/96", "fe80::/10", "fec0::/10", "fc00::/7", "ff00::/8", "2001:db8::/32", "3fff::/20", "100::/64",
        "100:0:0:1::/64", "64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "2002::/16", "2001::/23",
        "5f00::/16",
    ].compactMap { AddressRange($0) }
}
