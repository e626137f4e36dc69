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

    /// Whether the channel itself failed, and not what it was sent: its next success is news for all that waits.
    ///
    /// "Too many" is none: who asks for a pause gets it, also when something else is let through.
    package var isOutage: Bool {
        switch self {
        case .dnsFailed, .connectFailed, .tlsFailed, .timeout, .disconnected, .noBus, .noServer, .serverError,
            .askedAgain, .gone, .badAnswer, .addressRefused, .secretUnreadable:
            true
        case .throttled, .rejected, .redirected, .unsendable, .channelClosed, .stopping: false
        }
    }

    /// Whether what was refused is given up at once, and not tried again.
    package var isFinal: Bool {
        switch self {
        case .rejected, .redirected, .unsendable: true
        case .dnsFailed, .connectFailed, .tlsFailed, .timeout, .disconnected, .noBus, .noServer, .serverError,
            .throttled, .askedAgain, .gone, .badAnswer, .addressRefused, .secretUnreadable, .channelClosed,
            .stopping:
            false
        }
    }
}
