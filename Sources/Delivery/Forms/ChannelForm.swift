/// A channel as the config file describes it: its form and what that form needs.
package enum ChannelForm: Hashable, Sendable {
    /// Notifications of the session's desktop.
    case desktop(DesktopForm)
    /// A Standard Webhook.
    case webhook(WebhookForm)

    /// The form alone.
    package var kind: ChannelKind {
        switch self {
        case .desktop: .desktop
        case .webhook: .webhook
        }
    }
}
