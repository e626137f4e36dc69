extension Migration {
    /// Until when only some channels ask a question, which earlier answers count for it, and what is held of an item.
    static let graces = Migration(
        version: 20,
        sql: """
            ALTER TABLE question ADD COLUMN grace_until INTEGER;
            ALTER TABLE question ADD COLUMN subject TEXT;
            CREATE INDEX question_subject ON question (subject, closed_at) WHERE subject IS NOT NULL;
            CREATE INDEX outbox_held_item ON outbox (item) WHERE state = 'held';
            """)

    /// What people silenced, and by which of their rules a verdict was made.
    static let silences = Migration(
        version: 19,
        sql: """
            CREATE TABLE silence (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                matchers TEXT NOT NULL,
                begins INTEGER NOT NULL,
                ends INTEGER NOT NULL,
                made_by TEXT NOT NULL,
                note TEXT
            ) STRICT;
            ALTER TABLE verdict ADD COLUMN rule TEXT;
            """)

    /// Questions; those that are open are few, and are read at each look.
    static let questions = Migration(
        version: 16,
        sql: """
            CREATE TABLE question (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                run TEXT,
                run_name TEXT,
                bot TEXT NOT NULL,
                text TEXT NOT NULL,
                choices TEXT NOT NULL,
                takes_text INTEGER NOT NULL,
                fallback TEXT,
                asked_at INTEGER NOT NULL,
                deadline INTEGER,
                state TEXT NOT NULL,
                answer TEXT,
                answered_by TEXT,
                closed_at INTEGER
            ) STRICT;
            CREATE INDEX question_open ON question (number) WHERE closed_at IS NULL;
            """)

    /// What attempts to have a bot reply used, what each bot used in each month, and what is known of it.
    static let bots = Migration(
        version: 13,
        sql: """
            ALTER TABLE run ADD COLUMN usage TEXT;
            ALTER TABLE attempt ADD COLUMN usage TEXT;
            CREATE TABLE bot_month (
                bot TEXT NOT NULL,
                month TEXT NOT NULL,
                replies INTEGER NOT NULL,
                input INTEGER NOT NULL,
                cached INTEGER NOT NULL,
                output INTEGER NOT NULL,
                cost INTEGER,
                PRIMARY KEY (bot, month)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bot_state (
                name TEXT NOT NULL PRIMARY KEY,
                replied_at INTEGER,
                first_word INTEGER,
                whole INTEGER,
                failed_at INTEGER,
                reason TEXT,
                failure TEXT,
                note TEXT
            ) STRICT, WITHOUT ROWID;
            """)

    /// How a completed run got on: the finish time of later ones is estimated from it; removed with the run.
    static let profiles = Migration(version: 12, sql: "ALTER TABLE run ADD COLUMN profile BLOB;")

    /// What a run left behind: a JSON list of process ids and names.
    static let survivors = Migration(version: 3, sql: "ALTER TABLE run ADD COLUMN survivors TEXT;")

    /// Spans are listed, and removed, in the order in which they ended: a long one is as new as its last slot.
    static let spanEnds = Migration(
        version: 4,
        sql: """
            CREATE INDEX slot_span_end ON slot_span (era, last, job);
            DROP INDEX slot_span_time;
            """)

    /// What runs need to take turns: whose a run is, whether it waits for the others of its job, and who wants it
    /// ended.
    static let turns = Migration(
        version: 2,
        sql: """
            ALTER TABLE run ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE run ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE run ADD COLUMN end_asked TEXT;
            """)

    /// What is kept for its channel waits.
    ///
    /// It was held, which only rules do from here on; there were none before. A circuit belongs to the identity of
    /// its channel.
    static let waiting = Migration(
        version: 6,
        sql: """
            UPDATE outbox SET state = 'waiting' WHERE state = 'held';
            CREATE INDEX outbox_waiting ON outbox (channel) WHERE state = 'waiting';
            ALTER TABLE channel ADD COLUMN identity TEXT;
            """)

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

    /// What an event holds beside its columns is JSON, of one shape for each type.
    ///
    /// It was text: a sentence, a number, or a duration such as `4h59m30s`. What was JSON stays as it is.
    static let payloads = Migration(
        version: 7,
        sql: """
            ALTER TABLE event RENAME COLUMN detail TO payload;
            WITH RECURSIVE duration (seq, rest, number, seconds) AS (
                SELECT seq, payload, 0, 0 FROM event WHERE type = 'clock.back'
                UNION ALL
                SELECT seq, substr(rest, 2),
                    CASE WHEN rest GLOB '[0-9]*' THEN number * 10 + substr(rest, 1, 1) ELSE 0 END,
                    seconds + number * CASE substr(rest, 1, 1)
                        WHEN 'w' THEN 604800 WHEN 'd' THEN 86400 WHEN 'h' THEN 3600 WHEN 'm' THEN 60
                        WHEN 's' THEN 1 ELSE 0 END
                FROM duration WHERE rest <> ''
            )
            UPDATE event SET payload = json_object('backSeconds', duration.seconds)
            FROM duration WHERE duration.seq = event.seq AND duration.rest = '' AND payload <> '';
            UPDATE event SET payload = CASE
                WHEN type IN ('run.completed', 'run.failed', 'run.canceled', 'run.lost', 'config.partial',
                    'job.leftOut')
                THEN json_object('message', payload)
                WHEN type LIKE 'channel.%' THEN json_object('error', payload)
                WHEN type = 'item.dismissed' THEN json_object('revision', CAST(payload AS INTEGER))
                WHEN type = 'message.read' THEN json_object('through',
                    strftime('%Y-%m-%dT%H:%M:%S', CAST(payload AS INTEGER) / 1000000, 'unixepoch')
                    || printf('.%06dZ', CAST(payload AS INTEGER) % 1000000))
                ELSE payload END
            WHERE payload <> '' AND type <> 'clock.back';
            """)

    /// How much each attempt printed: a log that is not there was removed, unless its attempt printed nothing.
    static let attemptOutput = Migration(
        version: 8, sql: "ALTER TABLE attempt ADD COLUMN output_bytes INTEGER;")

    /// The last lines of what a run printed that did not complete.
    static let outputTail = Migration(version: 11, sql: "ALTER TABLE run ADD COLUMN output_tail TEXT;")

    /// A turn reads the pinned messages of a thread, which are few.
    static let pins = Migration(
        version: 9, sql: "CREATE INDEX message_pinned ON message (bot, thread) WHERE pinned = 1;")

    /// Which revision of an item a channel refused for good, and why: such a surface counts neither as shown nor as
    /// behind.
    static let refusals = Migration(
        version: 5,
        sql: """
            ALTER TABLE surface ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE surface ADD COLUMN refusal TEXT;
            CREATE INDEX surface_refused ON surface (channel) WHERE refused <> 0;
            """)

    /// Conversations: what of a thread its bot was given, and has answered; what messages reply to, reactions and files.
    static let conversations = Migration(
        version: 14,
        sql: """
            ALTER TABLE message ADD COLUMN reply_to TEXT;
            ALTER TABLE message ADD COLUMN asked_run TEXT;
            ALTER TABLE message ADD COLUMN sender TEXT;
            ALTER TABLE message ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX message_unasked ON message (bot, thread, number)
                WHERE author = 'user' AND asked_run IS NULL;
            CREATE TABLE conversation (
                bot TEXT NOT NULL,
                thread TEXT NOT NULL,
                cursor INTEGER NOT NULL,
                given INTEGER NOT NULL,
                given_at INTEGER NOT NULL,
                since INTEGER NOT NULL,
                PRIMARY KEY (bot, thread)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE reaction (
                number INTEGER PRIMARY KEY,
                message TEXT NOT NULL,
                word TEXT NOT NULL,
                at INTEGER NOT NULL,
                shown INTEGER NOT NULL,
                UNIQUE (message, word)
            ) STRICT;
            CREATE INDEX reaction_new ON reaction (number) WHERE shown = 0;
            CREATE TABLE attachment (
                message TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                bytes INTEGER NOT NULL,
                content BLOB NOT NULL
            ) STRICT;
            """)

    /// The bots that were made on the command line; what resumes conversations where programs keep them, and how much of
    /// a thread is known there.
    static let ownBots = Migration(
        version: 15,
        sql: """
            CREATE TABLE bot (
                name TEXT NOT NULL PRIMARY KEY,
                revision INTEGER NOT NULL,
                settings TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            ALTER TABLE conversation ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE conversation ADD COLUMN continuation TEXT;
            """)

    /// Two pages less for a commit: events are numbered by the writer, and entries that were never tried are found by
    /// the index of their line.
    static let fewerPages = Migration(
        version: 17,
        sql: """
            CREATE TABLE numbered (
                seq INTEGER PRIMARY KEY,
                type TEXT NOT NULL,
                at INTEGER NOT NULL,
                reason TEXT,
                job TEXT,
                run TEXT,
                bot TEXT,
                subject TEXT,
                channel TEXT,
                payload TEXT NOT NULL
            ) STRICT;
            INSERT INTO numbered
                SELECT seq, type, at, reason, job, run, bot, subject, channel, payload FROM event ORDER BY seq;
            DROP TABLE event;
            ALTER TABLE numbered RENAME TO event;
            UPDATE consumer SET seq = min(seq, coalesce((SELECT max(seq) FROM event), 0));
            DROP INDEX outbox_untried;
            """)

    /// The channels that were made on the command line.
    static let ownChannels = Migration(
        version: 18,
        sql: """
            CREATE TABLE own_channel (
                number INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                settings TEXT NOT NULL,
                words TEXT NOT NULL
            ) STRICT;
            """)

    /// What bots keep of conversations that they are no longer shown whole.
    static let summaries = Migration(
        version: 22,
        sql: """
            ALTER TABLE conversation ADD COLUMN summary TEXT;
            ALTER TABLE conversation ADD COLUMN summarized INTEGER NOT NULL DEFAULT 0;
            """)
}

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

extension Migration {
    /// The words of messages, for searching a million of them.
    ///
    /// The texts stay where they are; what is inserted into a message's row never changes there.
    static let words = Migration(
        version: 26,
        sql: """
            CREATE VIRTUAL TABLE message_words USING fts5(
                bot, title, text, content = 'message', content_rowid = 'number',
                tokenize = 'unicode61 remove_diacritics 2'
            );
            CREATE TRIGGER message_said AFTER INSERT ON message BEGIN
                INSERT INTO message_words (rowid, bot, title, text)
                VALUES (new.number, new.bot, new.title, new.text);
            END;
            CREATE TRIGGER message_forgotten AFTER DELETE ON message BEGIN
                INSERT INTO message_words (message_words, rowid, bot, title, text)
                VALUES ('delete', old.number, old.bot, old.title, old.text);
            END;
            INSERT INTO message_words (message_words) VALUES ('rebuild');
            """)
}

extension Migration {
    /// The words of a message are entered with those of others; see `WordNews`.
    static let laterWords = Migration(
        version: 29,
        sql: """
            DROP TRIGGER message_said;
            DROP TRIGGER message_forgotten;
            CREATE TRIGGER message_forgotten AFTER DELETE ON message
            WHEN EXISTS (SELECT 1 FROM message_words_docsize WHERE id = old.number) BEGIN
                INSERT INTO message_words (message_words, rowid, bot, title, text)
                VALUES ('delete', old.number, old.bot, old.title, old.text);
            END;
            """)
}
