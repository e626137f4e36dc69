import Curl
package import Delivery

/// Where a channel's requests go, and where they must not: a form's reach, held against what libcurl makes of it.
package struct HTTPTarget: Sendable {
    private let reach: HTTPReach
    private let parts: CurlURL
    /// Asked at connect, of the very address.
    ///
    /// Connections are shared only between the same rules.
    let addressGuard: AddressGuard

    /// A target of the reach.
    ///
    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    package init(_ reach: HTTPReach) throws(HTTPSenderError) {
        // Two readers that see two hosts in one address are how a guard is walked around.
        guard let parts = CurlURL(reach.url.text), parts.host == reach.url.host || parts.address != nil else {
            throw .notAnAddress
        }
        self.reach = reach
        self.parts = parts
        let rules = reach.allow.map { "\($0)" }.sorted().joined(separator: " ")
        addressGuard = AddressGuard(key: "\(reach.url.isSecure) \(reach.url.host) \(rules)") {
            reach.mayConnect(to: $0.ip.bytes)
        }
        if let address = parts.address, !reach.mayConnect(to: address.bytes) {
            throw .addressRefused(SocketAddress(ip: address, port: parts.port))
        }
    }

    /// Scheme, host and port, which is all of the address that is ever shown.
    package var shown: String { reach.url.shown }

    /// Whether `url` leads to the same host, in the same scheme and by the same port.
    func isSameHost(_ url: String) -> Bool {
        CurlURL(url).map { ($0.scheme, $0.host, $0.port) == (parts.scheme, parts.host, parts.port) } ?? false
    }

    /// How long the parts of an attempt may take.
    var timeouts: CurlTimeouts { CurlTimeouts(connect: reach.connectTimeout, total: reach.timeout) }
}
