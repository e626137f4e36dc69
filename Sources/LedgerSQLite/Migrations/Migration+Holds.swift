extension Migration {
    /// Why a rule holds an entry and which entry lists it; who uses a token.
    static let holds = Migration(
        version: 25,
        sql: """
            ALTER TABLE outbox ADD COLUMN held_by TEXT;
            ALTER TABLE outbox ADD COLUMN held TEXT;
            ALTER TABLE outbox ADD COLUMN listed_in TEXT;
            -- What is judged again when its time is over; few rows.
            CREATE INDEX outbox_judged ON outbox (held_by) WHERE state = 'held';
            -- What was sent of the failures of a job; written with them alone.
            CREATE INDEX outbox_failure ON outbox (run) WHERE type IN ('run.failed', 'run.lost');
            ALTER TABLE token ADD COLUMN id TEXT;
            ALTER TABLE token ADD COLUMN used_at INTEGER;
            UPDATE token SET id = lower(hex(randomblob(16))) WHERE id IS NULL;
            """)
}
