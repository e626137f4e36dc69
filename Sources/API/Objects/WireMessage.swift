/// Something said in a thread of a bot.
package struct WireMessage: Hashable, Sendable, Codable {
    /// What identifies it.
    package var id: String
    /// Whose thread it is in.
    package var bot: String
    /// The thread of the bot.
    package var thread: String
    /// Who said it: `bot` or `user`.
    package var from: String
    /// What was said, as it was said: it may hold anything.
    package var text: String
    /// When it was said.
    package var at: Timestamp
    /// Whether the person has read it.
    package var read: Bool
    /// Whether the person keeps it.
    package var pinned: Bool
    /// The run that said it.
    package var run: String?

    /// A message that nobody has read.
    package init(id: String, bot: String, thread: String, from: String, text: String, at: Timestamp) {
        self.id = id
        self.bot = bot
        self.thread = thread
        self.from = from
        self.text = text
        self.at = at
        self.read = false
        self.pinned = false
    }
}
