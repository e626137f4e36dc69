// A table: the schema, with the reason of every index beside it.

extension Migration {
    /// Everything from the watermark to the facts.
    ///
    /// Moments and durations are whole microseconds. Rows that are written in great numbers have keys that rise
    /// with time, so that their indexes grow at one end.
    static let first = Migration(
        version: 1,
        sql: """
            CREATE TABLE scheduler (
                shard INTEGER PRIMARY KEY CHECK (shard = 0),
                decided_until INTEGER NOT NULL,
                era INTEGER NOT NULL
            ) STRICT;

            CREATE TABLE revision (
                job TEXT NOT NULL,
                revision INTEGER NOT NULL,
                spec TEXT NOT NULL,
                PRIMARY KEY (job, revision)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE job (
                name TEXT PRIMARY KEY,
                revision INTEGER NOT NULL,
                origin TEXT NOT NULL,
                place TEXT,
                since INTEGER NOT NULL,
                paused_since INTEGER,
                pause_note TEXT,
                FOREIGN KEY (name, revision) REFERENCES revision (job, revision)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE run (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                job TEXT NOT NULL,
                ordinal INTEGER NOT NULL,
                bot TEXT NOT NULL,
                kind TEXT NOT NULL,
                cause TEXT NOT NULL,
                slot INTEGER,
                era INTEGER NOT NULL,
                state INTEGER NOT NULL,
                reason TEXT,
                attempt INTEGER NOT NULL,
                retry_of TEXT,
                not_before INTEGER,
                queued_at INTEGER NOT NULL,
                started_at INTEGER,
                ended_at INTEGER,
                exit_code INTEGER,
                signal INTEGER,
                lateness INTEGER,
                queue_delay INTEGER,
                output_bytes INTEGER,
                cpu INTEGER,
                max_rss_kb INTEGER,
                pid INTEGER,
                pid_start INTEGER,
                pid_boot TEXT,
                revision INTEGER NOT NULL,
                spec TEXT,
                live TEXT,
                live_attempt INTEGER,
                live_seq INTEGER,
                -- The cause comes first: slots of one moment stand together, at the end of the index.
                UNIQUE (cause, job)
            ) STRICT;
            -- Runs that have not ended, in the order they were inserted. They are few: this finds them by job too.
            CREATE INDEX run_open ON run (state) WHERE state < 20;
            -- History by job; written when a run ends, not when it is decided.
            CREATE INDEX run_ended ON run (job, ordinal) WHERE state >= 20;

            -- The next ordinal of a job whose newest runs were removed; the others count by their runs.
            CREATE TABLE ordinal (
                job TEXT PRIMARY KEY,
                next INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
                INSERT INTO ordinal (job, next) VALUES (old.job, old.ordinal + 1)
                ON CONFLICT DO UPDATE SET next = max(next, excluded.next);
            END;

            CREATE TABLE attempt (
                run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
                n INTEGER NOT NULL,
                state INTEGER NOT NULL,
                reason TEXT,
                started_at INTEGER,
                ended_at INTEGER,
                exit_code INTEGER,
                signal INTEGER,
                PRIMARY KEY (run, n)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE slot_span (
                job TEXT NOT NULL,
                era INTEGER NOT NULL,
                first INTEGER NOT NULL,
                last INTEGER NOT NULL,
                count INTEGER NOT NULL,
                state INTEGER NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (job, era, first)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX slot_span_time ON slot_span (era, first);

            CREATE TABLE event (
                seq INTEGER PRIMARY KEY AUTOINCREMENT,
                type TEXT NOT NULL,
                at INTEGER NOT NULL,
                reason TEXT,
                job TEXT,
                run TEXT,
                bot TEXT,
                subject TEXT,
                channel TEXT,
                detail TEXT NOT NULL
            ) STRICT;
            CREATE TABLE consumer (
                name TEXT PRIMARY KEY,
                seq INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE message (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                bot TEXT NOT NULL,
                thread TEXT NOT NULL,
                author TEXT NOT NULL,
                text TEXT NOT NULL,
                at INTEGER NOT NULL,
                urgency TEXT NOT NULL,
                title TEXT,
                appearance TEXT NOT NULL,
                replace_key TEXT,
                run_name TEXT,
                read INTEGER NOT NULL,
                pinned INTEGER NOT NULL,
                run TEXT
            ) STRICT;
            CREATE INDEX message_bot ON message (bot);
            CREATE INDEX message_unread ON message (bot, thread, at) WHERE read = 0;

            CREATE TABLE item (
                key TEXT PRIMARY KEY,
                revision INTEGER NOT NULL,
                state BLOB NOT NULL,
                flush_at INTEGER,
                updated_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX item_wake ON item (flush_at) WHERE flush_at IS NOT NULL;

            CREATE TABLE outbox (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                channel TEXT NOT NULL,
                cause TEXT NOT NULL UNIQUE,
                type TEXT NOT NULL,
                reason TEXT NOT NULL,
                state TEXT NOT NULL,
                attempts INTEGER NOT NULL,
                next_at INTEGER,
                last_error TEXT,
                status INTEGER,
                created_at INTEGER NOT NULL,
                settled_at INTEGER,
                run TEXT,
                item TEXT,
                body BLOB NOT NULL
            ) STRICT;
            CREATE INDEX outbox_state ON outbox (state);
            CREATE INDEX outbox_pending ON outbox (channel, next_at) WHERE state = 'pending';
            CREATE INDEX outbox_line ON outbox (channel, coalesce(item, run)) WHERE state = 'pending';
            CREATE INDEX outbox_untried ON outbox (channel, item) WHERE state = 'pending' AND attempts = 0;

            -- rings: the newest revision that should ring and was not shown yet; 0: none.
            CREATE TABLE surface (
                channel TEXT NOT NULL,
                item TEXT NOT NULL,
                wanted INTEGER NOT NULL,
                rings INTEGER NOT NULL,
                wanted_at INTEGER NOT NULL,
                shown INTEGER NOT NULL,
                shown_at INTEGER,
                generation TEXT,
                remote TEXT,
                dismissed INTEGER NOT NULL,
                PRIMARY KEY (channel, item)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX surface_behind ON surface (channel) WHERE wanted <> shown AND dismissed = 0;
            CREATE INDEX surface_remote ON surface (channel, remote) WHERE remote IS NOT NULL;

            CREATE TABLE receipt (
                number INTEGER PRIMARY KEY,
                outbox TEXT NOT NULL,
                at INTEGER NOT NULL,
                kind TEXT NOT NULL,
                detail TEXT NOT NULL,
                status INTEGER
            ) STRICT;
            CREATE INDEX receipt_outbox ON receipt (outbox);

            CREATE TABLE channel (
                name TEXT PRIMARY KEY,
                circuit BLOB NOT NULL,
                updated_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE fact (
                name TEXT PRIMARY KEY,
                value TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}
