extension Migration {
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
}
