extension Migration {
    /// Which revision of an item a channel refused for good, and why: such a surface counts neither as shown nor as
    /// behind.
    static let refusals = Migration(
        version: 5,
        sql: """
            ALTER TABLE surface ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE surface ADD COLUMN refusal TEXT;
            CREATE INDEX surface_refused ON surface (channel) WHERE refused <> 0;
            """)
}
