package import Curl

/// Where a channel's webhooks go, and where they must not.
package struct WebhookTarget: Sendable {
    /// The whole address; may carry a token, so it is shown to nobody.
    let url: String
    private let parts: CurlURL
    private let networks: [Network]
    private let isAllowedByName: Bool

    /// A target at `url`, with exceptions from "https, and public addresses only".
    ///
    /// - Throws: ``WebhookTargetError`` when no webhook could ever be sent there.
    package init(url: String, allow: [AllowedPlace] = []) throws(WebhookTargetError) {
        guard let parts = CurlURL(url) else { throw .notAnAddress }
        self.url = url
        self.parts = parts
        isAllowedByName = allow.contains(.host(parts.host))
        networks = allow.compactMap { if case .network(let network) = $0 { network } else { nil } }
        if let address = parts.address {
            let place = SocketAddress(ip: address, port: parts.port)
            guard allows(place) else { throw .addressRefused(place) }
        } else if !isEncrypted, !isAllowedByName, networks.isEmpty {
            throw .notEncrypted
        }
    }

    /// Scheme and host, which is all of the address that is ever shown.
    package var shown: String {
        let isBracketed = parts.address?.bitWidth == 128
        return "\(parts.scheme)://" + (isBracketed ? "[\(parts.host)]" : parts.host)
    }

    /// Whether it is reached by https.
    package var isEncrypted: Bool { parts.scheme == "https" }

    /// Whether a connection to `address` is allowed: an exception, or encrypted to a public one.
    package func allows(_ address: SocketAddress) -> Bool {
        let ip = address.ip.unmapped
        if isAllowedByName || networks.contains(where: { $0.contains(ip) || $0.contains(address.ip) }) {
            return true
        }
        return isEncrypted && PublicAddress.contains(ip)
    }

    /// The same, asked at connect.
    var addressGuard: AddressGuard {
        let rules = networks.map(\.description).sorted() + (isAllowedByName ? [parts.host] : [])
        return AddressGuard(key: "\(parts.scheme) \(rules.joined(separator: " "))") { allows($0) }
    }
}
