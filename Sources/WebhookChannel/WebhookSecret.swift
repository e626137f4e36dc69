import Crypto
import FoundationEssentials

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
