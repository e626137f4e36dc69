/// What keeps a channel from failing unnoticed: where its things go that do not arrive, and a sign of life.
package struct ChannelSafety: Hashable, Sendable {
    /// The channel that is sent what does not arrive here; nil: none.
    package var fallback: String?
    /// How long something may take to arrive before it goes there; what is refused for good goes there at once.
    package var fallbackAfter: Duration
    /// How often a sign of life is sent; nil: never.
    package var heartbeat: Duration?

    /// Nothing is kept safe, unless it is said how.
    package init(
        fallback: String? = nil, fallbackAfter: Duration = ChannelSafety.usualWait, heartbeat: Duration? = nil
    ) {
        (self.fallback, self.fallbackAfter, self.heartbeat) = (fallback, fallbackAfter, heartbeat)
    }

    /// An hour: a receiver that is restarted is none that fails.
    package static let usualWait = Duration.seconds(3600)
    /// What ``fallbackAfter`` may be.
    package static let waits = Duration.seconds(60)...Duration.seconds(7 * 86_400)
    /// What ``heartbeat`` may be.
    package static let heartbeats = Duration.seconds(60)...Duration.seconds(31 * 86_400)

    package static let (fallbackKey, waitKey, heartbeatKey) = ("fallback", "fallbackAfter", "heartbeat")

    /// The keys of every channel but a desktop, whatever its form: who sits before that one sees that it is there.
    package static let fields = [
        FormField(
            fallbackKey, .word, "the channel that is sent what does not arrive here", example: "mail"),
        FormField(
            waitKey, .duration, "how long something may take to arrive before it goes there", example: "1h"),
        FormField(heartbeatKey, .duration, "how often a sign of life is sent", example: "1d"),
    ]

    /// The keys of a form's channels besides those of the form.
    package static func fields(of form: any ChannelForm.Type) -> [FormField] {
        form.kind == DesktopForm.kind ? [] : fields
    }
}
