package import Curl

/// Why no webhook could ever be sent to an address.
package enum WebhookTargetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no http or https address.
    case notAnAddress
    /// It is an address that is not public, and `allow` does not name it.
    case addressRefused(SocketAddress)

    /// A sentence for a person, with a hint.
    package var description: String {
        switch self {
        case .notAnAddress: "not an http or https address"
        case .addressRefused(let address):
            "\(address.ip) is not public or not encrypted: name it under allow, as \(address.ip)/\(address.ip.bitWidth)"
        }
    }
}
