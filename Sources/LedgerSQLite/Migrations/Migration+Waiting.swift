extension Migration {
    /// What is kept for its channel waits.
    ///
    /// It was held, which only rules do from here on; there were none before. A circuit belongs to the identity of
    /// its channel.
    static let waiting = Migration(
        version: 6,
        sql: """
            UPDATE outbox SET state = 'waiting' WHERE state = 'held';
            CREATE INDEX outbox_waiting ON outbox (channel) WHERE state = 'waiting';
            ALTER TABLE channel ADD COLUMN identity TEXT;
            """)
}
