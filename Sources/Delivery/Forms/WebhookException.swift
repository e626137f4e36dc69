/// An entry of a webhook's `allow:` list: what may be reached although it is not public, or in plain http.
package enum WebhookException: Hashable, Sendable {
    /// One host, by its exact name.
    case host(String)
    /// An address or a network.
    case network(AddressRange)

    /// Reads `127.0.0.1/32`, `fd00::/8`, `10.1.2.3` or `host.example`.
    /// - Throws: ``FormError/badException(_:)``.
    package init(_ text: String) throws(FormError) {
        if let range = AddressRange(text) {
            self = .network(range)
        } else if WebhookURL.isHost(text), text.contains(where: \.isLetter) {
            self = .host(text.lowercased())
        } else {
            throw .badException(text)
        }
    }
}
