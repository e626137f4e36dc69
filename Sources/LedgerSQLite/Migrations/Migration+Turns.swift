extension Migration {
    /// What runs need to take turns: whose a run is, whether it waits for the others of its job, and who wants it
    /// ended.
    static let turns = Migration(
        version: 2,
        sql: """
            ALTER TABLE run ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE run ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE run ADD COLUMN end_asked TEXT;
            """)
}
