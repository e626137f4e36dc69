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
