extension Migration {
    /// What a run left behind: a JSON list of process ids and names.
    static let survivors = Migration(version: 3, sql: "ALTER TABLE run ADD COLUMN survivors TEXT;")
}
