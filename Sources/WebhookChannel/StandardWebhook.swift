import Crypto
import FoundationEssentials
package import Timeline

/// Signs and verifies webhooks.
///
/// - Source: Standard Webhooks 1.0.0, symmetric (`v1`, HMAC-SHA256) and asymmetric signatures (`v1a`, ed25519).
package enum StandardWebhook {
    /// The header of the id, the same on every attempt.
    package static let idHeader = "webhook-id"
    /// The header of the attempt's time, in whole seconds since 1970.
    package static let timestampHeader = "webhook-timestamp"
    /// The header of the signatures, separated by spaces.
    package static let signatureHeader = "webhook-signature"
    /// How far the sender's clock may be from ours, either way.
    package static let tolerance = Duration.seconds(300)

    /// The value of the signature header: one entry for each secret that can sign, in their order.
    ///
    /// `id` contains no dot, and `body` is the very bytes to be sent.
    package static func sign(
        id: String, at moment: Moment, body: [UInt8], secrets: [WebhookSecret]
    ) -> String {
        let content = signedContent(id: id, timestamp: String(moment.seconds), body: body)
        return secrets.compactMap { $0.signature(of: content) }.joined(separator: " ")
    }

    /// Checks that whoever knows one of `secrets` sent these very bytes within the tolerance.
    ///
    /// Header names are compared without regard to case. Signatures are compared in constant time; those of
    /// other versions are passed over.
    /// - Returns: the id, by which a receiver knows a repetition, and the time of the attempt.
    /// - Throws: ``WebhookVerificationError``.
    package static func verify(
        headers: [String: String], body: [UInt8], secrets: [WebhookSecret], now: Moment
    ) throws(WebhookVerificationError) -> (id: String, sentAt: Moment) {
        let values = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        func value(_ name: String) throws(WebhookVerificationError) -> String {
            guard let value = values[name], !value.isEmpty else { throw .headerMissing(name) }
            return value
        }
        let id = try value(idHeader)
        let timestamp = try value(timestampHeader)
        let signatures = try value(signatureHeader)
        // Far outside any clock, so that the product with a million can't overflow.
        guard let seconds = Int64(timestamp), seconds.magnitude < 1_000_000_000_000 else {
            throw .badTimestamp
        }
        let sentAt = Moment(seconds: seconds)
        guard sentAt >= Moment(seconds: now.seconds) - tolerance else { throw .tooOld }
        guard sentAt <= now + tolerance else { throw .tooNew }

        let content = signedContent(id: id, timestamp: timestamp, body: body)
        for entry in signatures.split(separator: " ")
        where secrets.contains(where: { $0.verifies(entry, of: content) }) {
            return (id, sentAt)
        }
        throw .noMatch
    }

    private static func signedContent(id: String, timestamp: String, body: [UInt8]) -> [UInt8] {
        var content = Array("\(id).\(timestamp).".utf8)
        content.append(contentsOf: body)
        return content
    }
}

/// Why a received webhook is not to be believed.
package enum WebhookVerificationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A header is absent or empty.
    case headerMissing(String)
    /// The timestamp is no whole number of seconds.
    case badTimestamp
    /// It was sent longer ago than the tolerance: perhaps a repetition by somebody who listened.
    case tooOld
    /// It comes from the future: one of the two clocks is wrong.
    case tooNew
    /// No signature fits any secret.
    case noMatch

    /// A sentence for a person.
    package var description: String {
        switch self {
        case .headerMissing(let name): "the header \(name) is missing"
        case .badTimestamp: "the header \(StandardWebhook.timestampHeader) is not a time"
        case .tooOld: "it was sent more than five minutes ago"
        case .tooNew: "it was sent more than five minutes in the future"
        case .noMatch: "no signature fits the secret"
        }
    }
}

/// A key that webhooks are signed with, or verified, as its prefix and base64: `whsec_` for both, `whsk_` for a private key
/// of ed25519 (its seed, alone or before the public key), and `whpk_` for the public one.
///
/// Describes itself by its last four characters and never gives the rest away.
///
/// - Source: Standard Webhooks 1.0.0, symmetric and asymmetric signatures; RFC 8032.
package struct WebhookSecret: Hashable, Sendable {
    /// What a key is for, by its prefix.
    private enum Kind: String, CaseIterable {
        case symmetric = "whsec_"
        case signing = "whsk_"
        case verifying = "whpk_"
    }

    private let kind: Kind
    private let bytes: [UInt8]
    private let tail: String

    /// Reads a prefix and base64, padded or not.
    ///
    /// - Throws: ``WebhookSecretError`` for anything else, and for a key that has not the bytes of its kind.
    package init(_ text: some StringProtocol) throws(WebhookSecretError) {
        guard let kind = Kind.allCases.first(where: { text.hasPrefix($0.rawValue) }) else {
            throw .prefixMissing
        }
        let digits = text.dropFirst(kind.rawValue.count)
        guard let data = Data(unpaddedBase64: String(digits)) else { throw .notBase64 }
        guard !data.isEmpty else { throw .empty }
        self.kind = kind
        switch (kind, data.count) {
        case (.symmetric, _), (.verifying, 32), (.signing, 32): bytes = Array(data)
        case (.signing, 64): bytes = Array(data.prefix(32))
        case (.signing, _), (.verifying, _): throw .badLength
        }
        tail = String(digits.suffix(4))
    }

    /// Whether it can sign; a public key only verifies.
    package var canSign: Bool { kind != .verifying }

    /// The entry of the signature header; `nil`: it can't sign.
    fileprivate func signature(of content: [UInt8]) -> String? {
        switch kind {
        case .symmetric:
            let code = HMAC<SHA256>.authenticationCode(for: content, using: key)
            return "v1," + Data(code).base64EncodedString()
        case .signing:
            let signature = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
                .signature(for: Data(content))
            return signature.map { "v1a," + $0.base64EncodedString() }
        case .verifying: return nil
        }
    }

    /// Whether an entry of the signature header was made with it, or with its private key; one of another version was not.
    fileprivate func verifies(_ entry: Substring, of content: [UInt8]) -> Bool {
        let parts = entry.split(separator: ",", maxSplits: 1)
        guard parts.count == 2, let code = Data(base64Encoded: String(parts[1])) else { return false }
        switch (kind, parts[0]) {
        case (.symmetric, "v1"):
            return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: key)
        case (.signing, "v1a"), (.verifying, "v1a"):
            return publicKey?.isValidSignature(code, for: Data(content)) ?? false
        default: return false
        }
    }

    private var publicKey: Curve25519.Signing.PublicKey? {
        kind == .signing
            ? try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes).publicKey
            : try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
    }

    /// Reads the secrets in `text`, separated by white space; the first is the one in use, the others are
    /// being rotated in or out.
    ///
    /// - Throws: ``WebhookSecretError`` of the first that can't be read, and when there is none.
    package static func list(_ text: String) throws(WebhookSecretError) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        for word in text.split(whereSeparator: \.isWhitespace) { secrets.append(try WebhookSecret(word)) }
        guard !secrets.isEmpty else { throw .empty }
        return secrets
    }

    /// Its bytes, as the key of an authentication code.
    var key: SymmetricKey { SymmetricKey(data: bytes) }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `whsec_…` and the last four characters.
    package var description: String { kind.rawValue + "…" + tail }

    /// The same: no debugger's print-out shows the key.
    package var debugDescription: String { description }

    /// Nothing to look into.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Data {
    /// Decodes base64 whose padding may have been left out.
    init?(unpaddedBase64 text: String) {
        let digits = text.prefix { $0 != "=" }
        guard text.count - digits.count <= 2 else { return nil }
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        self.init(base64Encoded: digits + padding)
    }
}

/// Why a text is no secret; says nothing of the text itself.
package enum WebhookSecretError: String, Error, Hashable, Sendable, CustomStringConvertible {
    /// It does not begin with `whsec_`, `whsk_` or `whpk_`.
    case prefixMissing
    /// What follows is not base64.
    case notBase64
    /// There is none, or it has no bytes.
    case empty
    /// A key of ed25519 of another length.
    case badLength
    /// A public key, where something is to be signed.
    case publicKey

    /// A sentence for a person.
    package var description: String {
        switch self {
        case .prefixMissing: "a webhook secret begins with whsec_, or with whsk_ for a key of ed25519"
        case .notBase64: "what follows the prefix of the webhook secret is not base64"
        case .empty: "the webhook secret is empty"
        case .badLength: "a key of ed25519 has 32 bytes, or 64 with its public key"
        case .publicKey: "whpk_ is a public key, which only verifies; sign with whsk_"
        }
    }
}
