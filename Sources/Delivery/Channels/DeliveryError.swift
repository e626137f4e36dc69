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

/// Why a delivery failed: shown to people, stored, and the metric label.
package enum DeliveryReason: String, Hashable, Codable, Sendable, CaseIterable {
    // Nobody there.
    /// The name does not resolve.
    case dnsFailed
    /// No connection: refused, reset, no route.
    case connectFailed
    /// The TLS handshake or the certificate failed.
    case tlsFailed
    /// Connected, and then nothing came in time.
    case timeout
    /// The connection broke in the middle.
    case disconnected
    /// No session bus.
    case noBus
    /// A bus, and no notification server on it.
    case noServer
    /// The channel's program can't be started.
    case noProgram

    // Somebody there who said no.
    /// 5xx.
    case serverError
    /// 429, or a desktop that says "too many".
    case throttled
    /// 408 or 425: ask again.
    case askedAgain
    /// Another 4xx: it will never take this.
    case rejected
    /// 410: the address wants nothing more. Disables the channel.
    case gone
    /// 3xx: never followed.
    case redirected
    /// An answer that is not HTTP, or a reply of the wrong type.
    case badAnswer

    // Not even tried.
    /// The address is private, local, or not on the channel's allow list.
    case addressRefused
    /// The secret could not be read.
    case secretUnreadable
    /// What we made is not sendable; our own bug, kept visible.
    case unsendable
    /// The channel is disabled or was removed.
    case channelClosed
    /// The daemon is stopping; the attempt counts for nothing.
    case stopping
    /// More waits for the channel than there is room for; the oldest of least importance was dropped.
    case overflow

    /// The reason as the fragment of a sentence.
    package var words: String {
        switch self {
        case .dnsFailed: "its name does not resolve"
        case .connectFailed: "no connection"
        case .tlsFailed: "TLS failed"
        case .timeout: "no answer in time"
        case .disconnected: "the connection broke"
        case .noBus: "no session bus"
        case .noServer: "no notification server"
        case .noProgram: "its program can't be started"
        case .serverError: "the server reports an error"
        case .throttled: "too many requests"
        case .askedAgain: "the server asks to try again"
        case .rejected: "the server rejects it"
        case .gone: "the address no longer exists"
        case .redirected: "the server redirects elsewhere"
        case .badAnswer: "the answer can't be read"
        case .addressRefused: "the address is not allowed"
        case .secretUnreadable: "the secret can't be read"
        case .unsendable: "it can't be sent"
        case .channelClosed: "the channel is disabled or was removed"
        case .stopping: "the daemon is stopping"
        case .overflow: "more waited than there is room for"
        }
    }

    /// Whether the channel itself failed, and not what it was sent: its next success is news for all that waits.
    ///
    /// "Too many" is none: who asks for a pause gets it, also when something else is let through.
    package var isOutage: Bool {
        switch self {
        case .dnsFailed, .connectFailed, .tlsFailed, .timeout, .disconnected, .noBus, .noServer, .noProgram,
            .serverError, .askedAgain, .gone, .badAnswer, .addressRefused, .secretUnreadable:
            true
        case .throttled, .rejected, .redirected, .unsendable, .channelClosed, .stopping, .overflow: false
        }
    }

    /// Whether what was refused is given up at once, and not tried again.
    package var isFinal: Bool {
        switch self {
        case .rejected, .redirected, .unsendable: true
        case .dnsFailed, .connectFailed, .tlsFailed, .timeout, .disconnected, .noBus, .noServer, .noProgram,
            .serverError, .throttled, .askedAgain, .gone, .badAnswer, .addressRefused, .secretUnreadable,
            .channelClosed,
            .stopping, .overflow:
            false
        }
    }
}
