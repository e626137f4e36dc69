extension Migration {
    /// How much each attempt printed: a log that is not there was removed, unless its attempt printed nothing.
    static let attemptOutput = Migration(
        version: 8, sql: "ALTER TABLE attempt ADD COLUMN output_bytes INTEGER;")
}
