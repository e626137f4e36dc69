import GRDB
import Ledger
import Timeline

/// Events, and how far each consumer has read them.
struct EventRows {
    private let insert: Prepared
    private let cursor: Prepared
    private let putCursor: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO event (type, at, reason, job, run, bot, subject, channel, detail)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
        cursor = try Prepared(Self.cursorQuery, in: database)
        putCursor = try Prepared(
            "INSERT INTO consumer (name, seq) VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq",
            in: database)
    }

    /// Returns the event's number.
    func append(_ event: NewEvent) throws(StoreFailure) -> Int64 {
        try insert.run {
            $0.put(event.type)
            $0.put(event.at)
            $0.put(event.reason)
            $0.put(event.job)
            $0.put(event.run)
            $0.put(event.bot)
            $0.put(event.subject)
            $0.put(event.channel)
            $0.put(event.detail)
        }
        return insert.lastRow
    }

    func moveConsumer(_ name: String, from old: Int64, to new: Int64) throws(StoreFailure) {
        let now = try cursor.first({ $0.put(name) }) { row in row.integer() } ?? 0
        if now != old { throw .fenced }
        try putCursor.run {
            $0.put(name)
            $0.put(new)
        }
    }
}

extension EventRows {
    private static let cursorQuery = "SELECT seq FROM consumer WHERE name = ?"

    static func events(after seq: Int64, limit: Int, in database: Database) throws(StoreFailure)
        -> [EventRecord]
    {
        let statement = try Prepared(
            """
            SELECT seq, type, at, reason, job, run, bot, subject, channel, detail
            FROM event WHERE seq > ? ORDER BY seq LIMIT ?
            """, in: database)
        return try statement.all({
            $0.put(seq)
            $0.put(limit)
        }) { row throws(StoreFailure) in
            EventRecord(
                seq: row.integer(),
                event: NewEvent(
                    try row.word(), at: row.moment(), reason: row.optionalText(), job: row.optionalText(),
                    run: row.optionalText(), bot: row.optionalText(), subject: row.optionalText(),
                    channel: row.optionalText(), detail: row.text()))
        }
    }

    /// Also right when the newest events were removed: a number is never given twice.
    static func last(in database: Database) throws(StoreFailure) -> Int64 {
        try Prepared("SELECT seq FROM sqlite_sequence WHERE name = 'event'", in: database)
            .first { row in row.integer() } ?? 0
    }

    static func cursor(of consumer: String, in database: Database) throws(StoreFailure) -> Int64 {
        try Prepared(cursorQuery, in: database).first({ $0.put(consumer) }) { row in row.integer() } ?? 0
    }
}
