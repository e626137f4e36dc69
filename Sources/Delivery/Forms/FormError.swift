import Timeline

/// Why a channel's description is refused.
///
/// Ranges are bytes of the text at fault.
package enum FormError: Error, Hashable, Sendable {
    /// The address does not begin with `https://` or `http://`.
    case unknownScheme(Range<Int>)
    /// A name or password before an `@` would be a secret in the config text.
    case secretInURL(Range<Int>)
    /// No host, or one with characters that no host has.
    case badHost(Range<Int>)
    /// The port is not a number from 1 to 65535.
    case badPort(Range<Int>)
    /// A blank, a control character or a fragment.
    case badTarget(Range<Int>)
    /// Plain http to a host that is not on the allow list.
    case plainHTTP(host: String)
    /// An address that is not public and not on the allow list.
    case notPublic(host: String)
    /// An entry of the allow list is neither a host, an address nor a network.
    case badException(String)
    /// A timeout is not above zero, or above its longest.
    case badTimeout(Duration, longest: Duration)
}

extension FormError: CustomStringConvertible {
    /// One sentence, with what to do where there is one thing to do.
    package var description: String {
        switch self {
        case .unknownScheme: "the address must begin with https:// (or http://, for hosts under `allow:`)"
        case .secretInURL: "a name or password in the address would lie open here; use `secret:`"
        case .badHost: "this is not a host"
        case .badPort: "the port must be a number from 1 to 65535"
        case .badTarget: "the address may hold no blank, control character or fragment"
        case .plainHTTP(let host): "plain http goes only to hosts under `allow:`; add \(host), or use https"
        case .notPublic(let host): "\(host) is no public address; add it under `allow:`"
        case .badException(let text):
            "\"\(text)\" is not a host, an address or a network such as 10.0.0.0/8"
        case .badTimeout(_, let longest): "the timeout must be above 0s and at most \(longest.text)"
        }
    }

    /// The bytes at fault, where it is a part of the text.
    package var range: Range<Int>? {
        switch self {
        case .unknownScheme(let range), .secretInURL(let range), .badHost(let range), .badPort(let range),
            .badTarget(let range):
            range
        case .plainHTTP, .notPublic, .badException, .badTimeout: nil
        }
    }
}
