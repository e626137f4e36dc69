extension Migration {
    /// The tokens of the door; of each only its digest.
    static let tokens = Migration(
        version: 23,
        sql: """
            CREATE TABLE token (
                name TEXT NOT NULL PRIMARY KEY,
                digest TEXT NOT NULL UNIQUE,
                scopes TEXT NOT NULL,
                job TEXT,
                signature TEXT,
                made_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}

extension Migration {
    /// What must report in time; of its key only the digest.
    static let expectations = Migration(
        version: 27,
        sql: """
            CREATE TABLE expectation (
                name TEXT NOT NULL PRIMARY KEY,
                digest TEXT NOT NULL UNIQUE,
                revision INTEGER NOT NULL,
                alert_at INTEGER,
                body TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}

extension Migration {
    /// What an entry's attempts came to, and what another channel is sent when it fails.
    static let fallbacks = Migration(
        version: 28,
        sql: """
            ALTER TABLE receipt ADD COLUMN latency INTEGER;
            ALTER TABLE receipt ADD COLUMN answer TEXT;
            CREATE TABLE outbox_attempt (
                outbox TEXT NOT NULL,
                number INTEGER NOT NULL,
                at INTEGER NOT NULL,
                latency INTEGER,
                reason TEXT NOT NULL,
                status INTEGER,
                error TEXT NOT NULL,
                answer TEXT,
                PRIMARY KEY (outbox, number)
            ) STRICT, WITHOUT ROWID;
            -- Of entries that have not arrived; few rows.
            CREATE TABLE fallback (
                outbox TEXT NOT NULL PRIMARY KEY,
                channel TEXT NOT NULL,
                due_at INTEGER NOT NULL,
                title TEXT NOT NULL,
                text TEXT NOT NULL,
                urgency TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX fallback_due ON fallback (due_at);
            CREATE TRIGGER outbox_history AFTER DELETE ON outbox BEGIN
                DELETE FROM outbox_attempt WHERE outbox = old.id;
                DELETE FROM fallback WHERE outbox = old.id;
            END;
            """)
}
