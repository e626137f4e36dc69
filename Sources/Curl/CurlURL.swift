import CCurl

/// A web address taken apart by the very parser that will connect to it.
///
/// A second parser could read another host out of the same text, and a rule would be asked about the
/// wrong one.
///
/// The corresponding C functions are `curl_url_set` and `curl_url_get`.
package struct CurlURL: Hashable, Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case; an address of version 6 without its brackets.
    package let host: String
    /// The port, also when the text leaves it to the scheme.
    package let port: UInt16

    /// Takes `text` apart; `nil` unless it is an HTTP address that can be sent to.
    package init?(_ text: String) {
        guard CurlRequest(url: text, addressGuard: .open).flaw == nil, let parts = unsafe curl_url() else {
            return nil
        }
        defer { unsafe curl_url_cleanup(parts) }
        guard unsafe curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = unsafe Self.part(CURLUPART_SCHEME, of: parts),
            let host = unsafe Self.part(CURLUPART_HOST, of: parts),
            let port = unsafe Self.part(CURLUPART_PORT, of: parts).flatMap({ UInt16($0) })
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased().filter { $0 != "[" && $0 != "]" }
        self.port = port
    }

    /// The host as an address, when it is written as one.
    package var address: IPAddress? { IPAddress(host) }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe curl_url_get(parts, part, &text, UInt32(CURLU_DEFAULT_PORT))
        guard code == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
