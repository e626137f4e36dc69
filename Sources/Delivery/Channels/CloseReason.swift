/// Why something shown is gone.
///
/// - Source: Desktop Notifications Specification 1.3, `NotificationClosed`.
package enum CloseReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// Its time was over, or the server made room: gone from the screen, still unread.
    case expired
    /// A person closed it: read.
    case dismissed
    /// We asked for it.
    case closedByUs
    /// The server does not say: treated as still unread.
    case undefined
}
