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
