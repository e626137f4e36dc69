/// How a bot's notices look and sound where a message says nothing else.
package struct BotManner: Hashable, Sendable {
    /// A name of the sound naming specification; absent takes the one that fits the news.
    package var soundName: String?
    /// An icon name or an absolute path.
    package var icon: String?

    /// A manner; left out, that of the news itself.
    package init(soundName: String? = nil, icon: String? = nil) {
        self.soundName = soundName
        self.icon = icon
    }
}
