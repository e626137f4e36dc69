/// One host that requests may be sent to, and the rule that each connection is held against.
///
/// The address is read by the caller, whose rule is about the host it found, and by libcurl, which connects: where the
/// two see different hosts, nothing is sent.
package struct CurlTarget: Sendable {
    /// The address as libcurl reads it.
    package let parts: CurlURL
    /// Asked at connect, of the very address.
    ///
    /// Connections are shared only between targets of one rule.
    package let addressGuard: AddressGuard

    /// Why nothing could ever be sent there.
    package enum Refusal: Error, Hashable, Sendable {
        /// It is no http or https address, or libcurl reads another host in it.
        case notAnAddress
        /// It is an address that the rule does not allow.
        case addressRefused(SocketAddress)
    }

    /// The target `url`, in which the caller found `host`.
    ///
    /// `rule` names the rule `allows`, which is asked with the four or sixteen bytes of an address.
    /// - Throws: ``Refusal`` when nothing could ever be sent there.
    package init(
        _ url: String, host: String, rule: String, allows: @escaping @Sendable ([UInt8]) -> Bool
    ) throws(Refusal) {
        guard let parts = CurlURL(url), parts.host == host || parts.address != nil else {
            throw .notAnAddress
        }
        self.parts = parts
        addressGuard = AddressGuard(key: rule) { allows($0.ip.bytes) }
        if let address = parts.address, !allows(address.bytes) {
            throw .addressRefused(SocketAddress(ip: address, port: parts.port))
        }
    }

    /// Whether `url` leads to the same host, in the same scheme and by the same port.
    package func isSameHost(_ url: String) -> Bool {
        CurlURL(url).map { ($0.scheme, $0.host, $0.port) == (parts.scheme, parts.host, parts.port) } ?? false
    }
}
