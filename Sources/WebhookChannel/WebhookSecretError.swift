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
