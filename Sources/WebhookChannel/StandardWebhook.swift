import Crypto
import FoundationEssentials
package import Timeline

/// Signs and verifies webhooks.
///
/// - Source: Standard Webhooks 1.0.0, symmetric signatures (`v1`, HMAC-SHA256).
package enum StandardWebhook {
    /// The header of the id, the same on every attempt.
    package static let idHeader = "webhook-id"
    /// The header of the attempt's time, in whole seconds since 1970.
    package static let timestampHeader = "webhook-timestamp"
    /// The header of the signatures, separated by spaces.
    package static let signatureHeader = "webhook-signature"
    /// How far the sender's clock may be from ours, either way.
    package static let tolerance = Duration.seconds(300)

    /// The value of the signature header: one entry for each secret, in their order.
    ///
    /// `id` contains no dot, and `body` is the very bytes to be sent.
    package static func sign(
        id: String, at moment: Moment, body: [UInt8], secrets: [WebhookSecret]
    ) -> String {
        let content = signedContent(id: id, timestamp: String(moment.seconds), body: body)
        return secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(for: content, using: secret.key)
            return "v1," + Data(code).base64EncodedString()
        }.joined(separator: " ")
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
        guard let seconds = Int64(timestamp), abs(seconds) < 1_000_000_000_000 else { throw .badTimestamp }
        let sentAt = Moment(seconds: seconds)
        guard sentAt >= Moment(seconds: now.seconds) - tolerance else { throw .tooOld }
        guard sentAt <= now + tolerance else { throw .tooNew }

        let content = signedContent(id: id, timestamp: timestamp, body: body)
        for entry in signatures.split(separator: " ") where entry.hasPrefix("v1,") {
            guard let code = Data(base64Encoded: String(entry.dropFirst(3))) else { continue }
            for secret in secrets
            where HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: secret.key) {
                return (id, sentAt)
            }
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

/// A key that webhooks are signed with, as `whsec_` and base64.
///
/// Describes itself by its last four characters and never gives the rest away.
///
/// - Source: Standard Webhooks 1.0.0, symmetric signatures.
package struct WebhookSecret: Hashable, Sendable {
    private let bytes: [UInt8]
    private let tail: String

    /// Reads `whsec_` and base64, padded or not.
    ///
    /// - Throws: ``WebhookSecretError`` for anything else, and for a key of no bytes.
    package init(_ text: some StringProtocol) throws(WebhookSecretError) {
        guard text.hasPrefix(Self.prefix) else { throw .prefixMissing }
        let digits = text.dropFirst(Self.prefix.count)
        guard let data = Data(unpaddedBase64: String(digits)) else { throw .notBase64 }
        guard !data.isEmpty else { throw .empty }
        bytes = Array(data)
        tail = String(digits.suffix(4))
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

    /// The key for the authentication code.
    var key: SymmetricKey { SymmetricKey(data: bytes) }

    private static let prefix = "whsec_"
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `whsec_…` and the last four characters.
    package var description: String { "whsec_…" + tail }

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
    /// It does not begin with `whsec_`.
    case prefixMissing
    /// What follows is not base64.
    case notBase64
    /// There is none, or it has no bytes.
    case empty

    /// A sentence for a person.
    package var description: String {
        switch self {
        case .prefixMissing: "a webhook secret begins with whsec_"
        case .notBase64: "what follows whsec_ is not base64"
        case .empty: "the webhook secret is empty"
        }
    }
}
