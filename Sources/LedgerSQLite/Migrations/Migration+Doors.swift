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
