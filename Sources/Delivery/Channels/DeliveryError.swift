/// Why a delivery did not happen, and with it whether to try again.
///
/// `detail` is one line for a person, with no secret in it: URLs as scheme and host.
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

    /// The HTTP status, where an answer came.
    package var status: Int? {
        switch self {
        case .retry(_, _, _, let status), .giveUp(_, _, let status): status
        case .unreachable: nil
        }
    }
}
