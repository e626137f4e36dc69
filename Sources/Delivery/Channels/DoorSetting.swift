/// Where the API is served over TCP: `listen:` of the configuration file.
package struct DoorSetting: Hashable, Sendable {
    /// A certificate and its key, as files in PEM.
    package struct TLS: Hashable, Sendable {
        /// The file of the certificate, and of those between it and its root.
        package var certificate: String
        /// The file of the key.
        package var key: String

        package init(certificate: String, key: String) {
            (self.certificate, self.key) = (certificate, key)
        }
    }

    /// The address, or `localhost`.
    package var host: String
    /// The port; 0: any free one.
    package var port: Int
    /// Nil: plain HTTP, on this machine only.
    package var tls: TLS?
    /// What links begin with where that is not the address, without a slash at its end.
    package var publicURL: String?

    /// Reads `127.0.0.1:8427`, `[::1]:8427` or `localhost:8427`; nil for anything else.
    ///
    /// A name is not an address: what it stands for may change between the check and the listening.
    package init?(address text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        let digits = text[text.index(after: colon)...]
        guard host == "localhost" || AddressRange.bytes(of: host) != nil, isBracketed == host.contains(":"),
            !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), (0...65535).contains(port)
        else { return nil }
        self.host = host == "localhost" ? "127.0.0.1" : host
        self.port = port
    }

    /// Whether only programs of this machine can connect.
    package var isLoopback: Bool {
        guard let bytes = AddressRange.bytes(of: host) else { return false }
        return AddressRange("127.0.0.0/8")?.contains(bytes) == true
            || AddressRange("::1")?.contains(bytes) == true
    }

    /// `http://127.0.0.1:8427`.
    package var shown: String {
        (tls == nil ? "http://" : "https://") + (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
    }

    /// What links begin with.
    package var linkBase: String { publicURL ?? shown }
}
