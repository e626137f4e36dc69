extension Migration {
    /// What was decided about each event for each channel, and entries that a rule holds until a moment.
    ///
    /// By event first: what is written together stands together, near the end.
    static let verdicts = Migration(
        version: 10,
        sql: """
            CREATE TABLE verdict (
                event INTEGER NOT NULL,
                channel TEXT NOT NULL,
                item TEXT,
                at INTEGER NOT NULL,
                action TEXT NOT NULL,
                stage TEXT NOT NULL,
                reason TEXT NOT NULL,
                until INTEGER,
                PRIMARY KEY (event, channel)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX outbox_held ON outbox (channel, next_at) WHERE state = 'held';
            """)
}
