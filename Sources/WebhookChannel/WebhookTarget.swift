import Crypto
import Curl
package import Delivery
import FoundationEssentials

/// Where a channel's webhooks go, and where they must not: a form, held against what libcurl makes of it.
package struct WebhookTarget: Sendable {
    private let form: WebhookForm

    /// A target of the form.
    ///
    /// - Throws: ``WebhookTargetError`` when no webhook could ever be sent there.
    package init(_ form: WebhookForm) throws(WebhookTargetError) {
        // Two readers that see two hosts in one address are how a guard is walked around.
        guard let parts = CurlURL(form.url.text), parts.host == form.url.host || parts.address != nil else {
            throw .notAnAddress
        }
        self.form = form
        if let address = parts.address, !form.mayConnect(to: address.bytes) {
            throw .addressRefused(SocketAddress(ip: address, port: parts.port))
        }
    }

    /// The whole address; may carry a token, so it is shown to nobody.
    var url: String { form.url.text }

    /// Scheme, host and port, which is all of the address that is ever shown.
    package var shown: String { form.url.shown }

    /// Another one for another address, other secrets or other exceptions; none of them can be read from it.
    func identity(signedBy secrets: [WebhookSecret]) -> String {
        let rules = form.allow.map { "\($0)" }.sorted()
        let text = ([form.url.text] + rules).joined(separator: "\n")
        // Each secret is the key of one round: a list in another order is another identity.
        var code = Data(SHA256.hash(data: Data(text.utf8)))
        for secret in secrets {
            code = Data(HMAC<SHA256>.authenticationCode(for: code, using: secret.key))
        }
        return code.base64EncodedString()
    }

    /// How long the parts of an attempt may take.
    var timeouts: CurlTimeouts { CurlTimeouts(connect: form.connectTimeout, total: form.timeout) }

    /// Asked at connect, of the very address.
    ///
    /// Connections are shared only between the same rules.
    var addressGuard: AddressGuard {
        let form = form
        let rules = form.allow.map { "\($0)" }.sorted().joined(separator: " ")
        return AddressGuard(key: "\(form.url.isSecure) \(form.url.host) \(rules)") {
            form.mayConnect(to: $0.ip.bytes)
        }
    }
}
