/// Something said in a thread of a bot.
package struct WireMessage: Hashable, Sendable, Codable {
    package var id: String
    package var bot: String
    package var thread: String
    /// Who said it: `bot` or `user`.
    package var from: String
    package var text: String
    package var at: Timestamp
    package var read: Bool
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
