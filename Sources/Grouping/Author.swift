/// Who said a message.
public enum Author: String, Hashable, Codable, Sendable, CaseIterable {
    /// The bot, or a script in its name.
    case bot
    /// A person; what a person says is never unread.
    case user
}
