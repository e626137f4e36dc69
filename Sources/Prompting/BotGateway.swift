package import Delivery

/// A bot that is an agent behind an OpenClaw gateway.
package struct BotGateway: Hashable, Sendable {
    /// Where its prompts belong.
    package enum Session: String, Hashable, Sendable, CaseIterable {
        /// The agent's main conversation; replies also go to where it was last spoken to.
        case synced
        /// The agent's main conversation; replies come to Belfry alone.
        case direct
        /// A conversation of its own for each run.
        case isolated
    }

    /// Where the gateway is, with `http` for `ws`, and at which addresses it may be.
    package var reach: HTTPReach
    /// The file of the certificates that vouch for it; nil: those that the machine trusts.
    package var authority: String?
    /// The agent; nil: the gateway's own choice.
    package var agent: String?
    /// Where its prompts belong.
    package var session = Session.synced

    /// What a bot's backend of this kind is called.
    package static let kind = "openclaw"

    /// An agent of the gateway; the default one, and its main conversation, unless set otherwise.
    package init(reach: HTTPReach) { self.reach = reach }

    /// The gateway's host, with its port.
    package var place: String {
        (reach.url.host.contains(":") ? "[\(reach.url.host)]" : reach.url.host) + ":\(reach.url.port)"
    }

    /// The gateway at a `ws` or `wss` address: this machine may be reached in any case, and others as `allow` says.
    ///
    /// - Throws: as `HTTPAddress` and `HTTPReach` do.
    package static func reach(_ text: String, allow: [AddressException]) throws(FormError) -> HTTPReach {
        let address = try address(text)
        let isName = AddressRange.bytes(of: address.host) == nil && address.host != "localhost"
        if !address.isSecure, isName, allow.isEmpty { throw .plainHTTP(host: address.host) }
        var allow = allow
        for own in ["127.0.0.0/8", "::1/128"] { allow.append(try AddressException(own)) }
        if address.host == "localhost" { allow.append(.host("localhost")) }
        return try HTTPReach(url: address, allow: allow)
    }

    private static func address(_ text: String) throws(FormError) -> HTTPAddress {
        let lower = text.prefix(6).lowercased()
        guard lower.hasPrefix("ws://") || lower == "wss://" else {
            throw .unknownScheme(0..<min(text.utf8.count, 6))
        }
        return try HTTPAddress("http" + text.dropFirst(2))
    }

    /// Whether an agent may have this name.
    package static func isAgent(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
    }
}
