/// Why a delivery did not happen, and with it whether to try again.
///
/// `detail` is one line for a person, with no secret in it: URLs as scheme, host and port.
package enum DeliveryError: Error, Hashable, Sendable {
    /// Try again, not before `after` if the other side said so.
    case retry(DeliveryReason, after: Duration? = nil, detail: String = "", status: Int? = nil)
    /// Never try this one again.
    case giveUp(DeliveryReason, detail: String = "", status: Int? = nil)
    /// The way there is away and nothing was sent: a level waits for its channel, an edge tries again.
    case unreachable(DeliveryReason, detail: String = "")

    /// The reason, which is also the metric label.
    package var reason: DeliveryReason {
        switch self {
        case .retry(let reason, _, _, _), .giveUp(let reason, _, _), .unreachable(let reason, _): reason
        }
    }

    /// One line for a person; may be empty.
    package var detail: String {
        switch self {
        case .retry(_, _, let detail, _), .giveUp(_, let detail, _), .unreachable(_, let detail): detail
        }
    }

    /// What went wrong in one line of bounded length; the reason's own word when nothing more is known.
    package var sentence: String {
        if detail.isEmpty { return reason.rawValue }
        let line = String(String.UnicodeScalarView(detail.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
        return line.count <= Self.longestSentence ? line : line.prefix(Self.longestSentence - 1) + "…"
    }

    private static let longestSentence = 300

    /// The HTTP status, where an answer came.
    package var status: Int? {
        switch self {
        case .retry(_, _, _, let status), .giveUp(_, _, let status): status
        case .unreachable: nil
        }
    }
}
