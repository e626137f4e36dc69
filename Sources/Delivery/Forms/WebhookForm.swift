/// What a webhook channel needs to know; valid by construction.
package struct WebhookForm: Hashable, Sendable {
    /// Where to.
    package let url: WebhookURL
    /// The secrets to sign with, the newest first; none sends unsigned.
    package let secrets: [SecretSource]
    /// What may be reached although it is not public, or in plain http.
    package let allow: [WebhookException]
    /// How long connecting may take.
    package let connectTimeout: Duration
    /// How long the whole exchange may take.
    package let timeout: Duration

    /// The longest timeout there may be.
    package static let longestTimeout = Duration.seconds(120)

    /// A webhook; left out, unsigned, public addresses only, 10 s to connect and 30 s in all.
    /// - Throws: ``FormError`` for plain http or a private address without an exception, and for bad timeouts.
    package init(
        url: WebhookURL, secrets: [SecretSource] = [], allow: [WebhookException] = [],
        connectTimeout: Duration = .seconds(10), timeout: Duration = .seconds(30)
    ) throws(FormError) {
        for duration in [connectTimeout, timeout] where duration <= .zero || duration > Self.longestTimeout {
            throw .badTimeout(duration, longest: Self.longestTimeout)
        }
        self.url = url
        self.secrets = secrets
        self.allow = allow
        self.connectTimeout = min(connectTimeout, timeout)
        self.timeout = timeout
        if !url.isSecure, !mayBeException { throw .plainHTTP(host: url.host) }
        if let address = AddressRange.bytes(of: url.host), !mayConnect(to: address) {
            throw .notPublic(host: url.host)
        }
    }

    /// Whether to connect to `address` (four or sixteen bytes), which the host was resolved to.
    ///
    /// Asked at connect with the very address, on each attempt: a name may lead elsewhere tomorrow.
    package func mayConnect(to address: [UInt8]) -> Bool {
        isNamed || isException(address) || (url.isSecure && AddressRange.isPublic(address))
    }

    private var isNamed: Bool { allow.contains(.host(url.host)) }

    private func isException(_ address: [UInt8]) -> Bool {
        allow.contains { exception in
            if case .network(let range) = exception { range.contains(address) } else { false }
        }
    }

    /// Whether an exception can apply at all, as far as is known before the name is resolved.
    private var mayBeException: Bool {
        if isNamed { return true }
        if let address = AddressRange.bytes(of: url.host) { return isException(address) }
        return allow.contains { if case .network = $0 { true } else { false } }
    }
}
