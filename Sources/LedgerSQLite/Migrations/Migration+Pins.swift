extension Migration {
    /// A turn reads the pinned messages of a thread, which are few.
    static let pins = Migration(
        version: 9, sql: "CREATE INDEX message_pinned ON message (bot, thread) WHERE pinned = 1;")
}
