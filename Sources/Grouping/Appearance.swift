/// How a message wishes to look and sound; a channel takes what it can.
public struct Appearance: Hashable, Codable, Sendable {
    /// An icon name or an absolute path.
    public var icon: String?
    /// A name of the sound naming specification, as `message-new-instant`.
    public var soundName: String?
    /// A category of the desktop specification, as `im.received`.
    public var category: String?
    /// How long it stays on the screen; absent lets the server decide, zero keeps it until closed.
    public var expireAfter: Duration?

    /// An appearance; everything absent is left to the bot's settings and the channel.
    public init(
        icon: String? = nil, soundName: String? = nil, category: String? = nil, expireAfter: Duration? = nil
    ) {
        self.icon = icon
        self.soundName = soundName
        self.category = category
        self.expireAfter = expireAfter
    }
}
