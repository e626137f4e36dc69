import Delivery
import GRDB
import Grouping
import Ledger
import Timeline

/// Why attempts of outbox entries failed, and what other channels are sent of those that do not arrive.
struct FallbackRows {
    private let insert: Prepared
    private let put: Prepared
    private let remove: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO outbox_attempt (outbox, number, at, latency, reason, status, error, answer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, in: database)
        put = try Prepared(
            """
            INSERT INTO fallback (outbox, channel, due_at, title, text, urgency) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (outbox) DO UPDATE SET channel = excluded.channel, due_at = min(due_at, excluded.due_at),
                title = excluded.title, text = excluded.text, urgency = excluded.urgency
            """, in: database)
        remove = try Prepared("DELETE FROM fallback WHERE outbox = ?", in: database)
    }

    func insert(_ attempt: OutboxAttempt) throws(StoreFailure) {
        try insert.run {
            $0.put(attempt.outbox)
            $0.put(attempt.number)
            $0.put(attempt.at)
            $0.put(attempt.latency)
            $0.put(attempt.reason)
            $0.put(attempt.status)
            $0.put(attempt.error)
            $0.put(attempt.answer)
        }
    }

    func put(_ fallback: FallbackRecord) throws(StoreFailure) {
        try put.run {
            $0.put(fallback.outbox)
            $0.put(fallback.channel)
            $0.put(fallback.dueAt)
            $0.put(fallback.title)
            $0.put(fallback.text)
            $0.put(fallback.urgency)
        }
    }

    func remove(_ outbox: String) throws(StoreFailure) {
        if try remove.run({ $0.put(outbox) }) == 0 { throw .fenced }
    }

    static func attempts(of outbox: String, in database: Database) throws(StoreFailure) -> [OutboxAttempt] {
        try Prepared(
            """
            SELECT outbox, number, at, latency, reason, status, error, answer FROM outbox_attempt
            WHERE outbox = ? ORDER BY number
            """, in: database
        )
        .all({ $0.put(outbox) }) { row throws(StoreFailure) in
            OutboxAttempt(
                outbox: row.text(), number: row.int(), at: row.moment(), latency: row.optionalDuration(),
                reason: try row.word(), status: row.optionalInt(), error: row.text(),
                answer: row.optionalText())
        }
    }

    static func fallbacks(
        dueBy moment: Moment, limit: Int, in database: Database
    ) throws(StoreFailure) -> [FallbackRecord] {
        try Prepared(
            """
            SELECT fallback.outbox, fallback.channel, due_at, title, text, urgency FROM fallback
            LEFT JOIN outbox ON outbox.id = fallback.outbox
            WHERE due_at <= ? OR coalesce(state, '') NOT IN ('pending', 'waiting', 'held')
            ORDER BY due_at, fallback.outbox LIMIT ?
            """, in: database
        )
        .all({
            $0.put(moment)
            $0.put(limit)
        }) { row throws(StoreFailure) in
            FallbackRecord(
                outbox: row.text(), channel: row.text(), dueAt: row.moment(), title: row.text(),
                text: row.text(), urgency: try row.word())
        }
    }

    static func next(in database: Database) throws(StoreFailure) -> Moment? {
        try Prepared("SELECT min(due_at) FROM fallback", in: database)
            .first({ _ in }) { row in row.optionalMoment() } ?? nil
    }
}
