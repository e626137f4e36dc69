/// One HTTP request: what to send, where to, and the bounds it is kept in.
///
/// Redirects are never followed, proxies named in the environment never used, and no other protocol than
/// HTTP and HTTPS is spoken.
package struct CurlRequest: Sendable {
    /// The method, a token such as `POST`.
    package var method: String
    /// The whole address, beginning with `http://` or `https://`.
    package var url: String
    /// The header lines, sent as they are and in this order.
    ///
    /// A body without a `Content-Type` gets none.
    package var headers: [CurlHeader]
    /// The bytes to send, or `nil` for a request without a body.
    package var body: [UInt8]?
    /// How long it may take.
    package var timeouts: CurlTimeouts
    /// How many bytes of the answer's body are kept.
    ///
    /// A longer one ends the transfer there, not in error.
    package var bodyLimit: Int
    /// A file of certificates to trust in place of the system's.
    package var authorities: String?
    /// Which addresses it may be sent to.
    package var addressGuard: AddressGuard

    /// A request to `url`.
    ///
    /// The limit of the answer's body is 64 KiB.
    package init(
        method: String = "GET", url: String, headers: [CurlHeader] = [], body: [UInt8]? = nil,
        timeouts: CurlTimeouts = CurlTimeouts(), bodyLimit: Int = 65_536, authorities: String? = nil,
        addressGuard: AddressGuard
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.bodyLimit = bodyLimit
        self.authorities = authorities
        self.addressGuard = addressGuard
    }

    /// What about it can't be sent, or `nil` when it can.
    var flaw: CurlError.Flaw? {
        // A byte below the space would end the C string, or the line it is written on.
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return .url }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else {
            return .url
        }
        guard !method.isEmpty, method.utf8.allSatisfy(CurlHeader.isTokenByte) else { return .method }
        guard headers.allSatisfy(\.isSound) else { return .header }
        guard authorities?.utf8.contains(0) != true else { return .authorities }
        return nil
    }
}
