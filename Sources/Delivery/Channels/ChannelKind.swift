/// The forms of channel there are; the `kind:` of the config file.
package enum ChannelKind: String, Hashable, Codable, Sendable, CaseIterable {
    /// Notifications of the session's desktop: a level, edited in place.
    case desktop
    /// A Standard Webhook: an edge, sent once.
    case webhook

    /// Whether items are edited in place (surfaces) instead of sent once (outbox entries).
    package var isLevel: Bool {
        switch self {
        case .desktop: true
        case .webhook: false
        }
    }
}
