import Delivery
import GRDB
import Ledger
import Timeline

/// Outbox entries, receipts, and what is remembered of channels.
struct OutboxRows {
    private let insert: Prepared
    private let move: Prepared
    private let rewrite: Prepared
    private let receipt: Prepared
    private let putChannel: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO outbox (id, channel, cause, type, reason, state, attempts, next_at, last_error, status,
                created_at, settled_at, run, item, body)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cause) DO NOTHING
            """, in: database)
        move = try Prepared(
            """
            UPDATE outbox SET state = ?, attempts = ?, next_at = ?, last_error = coalesce(?, last_error),
                status = coalesce(?, status), settled_at = ?
            WHERE id = ? AND state = ? AND attempts = ?
            """, in: database)
        rewrite = try Prepared(
            """
            UPDATE outbox SET reason = ?, body = ?, item = ?, next_at = ?
            WHERE id = ? AND state = 'pending' AND attempts = 0
            """, in: database)
        receipt = try Prepared(
            "INSERT INTO receipt (outbox, at, kind, detail, status) VALUES (?, ?, ?, ?, ?)", in: database)
        putChannel = try Prepared(
            """
            INSERT INTO channel (name, circuit, updated_at) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET circuit = excluded.circuit, updated_at = excluded.updated_at
            """, in: database)
    }

    func insert(_ entry: OutboxRecord) throws(StoreFailure) {
        try insert.run {
            $0.put(entry.id)
            $0.put(entry.channel)
            $0.put(entry.cause)
            $0.put(entry.type)
            $0.put(entry.reason)
            $0.put(entry.state)
            $0.put(entry.attempts)
            $0.put(entry.nextAt)
            $0.put(entry.lastError)
            $0.put(entry.status)
            $0.put(entry.createdAt)
            $0.put(entry.settledAt)
            $0.put(entry.run)
            $0.put(entry.item)
            $0.put(entry.body)
        }
    }

    func move(_ step: OutboxMove) throws(StoreFailure) {
        let changed = try move.run {
            $0.put(step.to)
            $0.put(step.nextAttempts)
            $0.put(step.nextAt)
            $0.put(step.lastError)
            $0.put(step.status)
            $0.put(step.settledAt)
            $0.put(step.id)
            $0.put(step.from)
            $0.put(step.attempts)
        }
        if changed == 0 { throw .fenced }
    }

    func rewrite(
        _ id: String, reason: String, body: [UInt8], item: String?, nextAt: Moment
    ) throws(StoreFailure) {
        let changed = try rewrite.run {
            $0.put(reason)
            $0.put(body)
            $0.put(item)
            $0.put(nextAt)
            $0.put(id)
        }
        if changed == 0 { throw .fenced }
    }

    func insert(_ record: ReceiptRecord) throws(StoreFailure) {
        try receipt.run {
            $0.put(record.outbox)
            $0.put(record.receipt.at)
            $0.put(record.receipt.kind)
            $0.put(record.receipt.detail)
            $0.put(record.receipt.status)
        }
    }

    func put(_ channel: ChannelRecord) throws(StoreFailure) {
        try putChannel.run {
            $0.put(channel.name)
            $0.put(channel.circuit)
            $0.put(channel.updatedAt)
        }
    }
}
