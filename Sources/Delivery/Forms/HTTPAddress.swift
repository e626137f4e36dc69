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
        let (host, afterHost) = try Self.host(bytes, authority.indices)
        self.text = text
        self.isSecure = isSecure
        self.host = host
        self.port = try Self.port(bytes[afterHost..<end]) ?? (isSecure ? 443 : 80)
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
