import Delivery
import GRDB
import Ledger
import Timeline

/// Outbox entries, receipts, and what is remembered of channels.
struct OutboxRows {
    private let insert: Prepared
    private let move: Prepared
    private let revive: Prepared
    private let hasten: Prepared
    private let hastenOne: Prepared
    private let readdress: Prepared
    private let park: Prepared
    private let expire: Prepared
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
        revive = try Prepared(
            """
            UPDATE outbox SET state = 'pending', next_at = ?, settled_at = NULL WHERE channel = ? AND state = ?
            """, in: database)
        hasten = try Prepared(
            """
            UPDATE outbox SET next_at = ?1 WHERE channel = ?2 AND state = 'pending' AND next_at > ?1
                AND id NOT IN (SELECT value FROM json_each(?3))
            """, in: database)
        hastenOne = try Prepared(
            "UPDATE outbox SET next_at = min(next_at, ?) WHERE id = ? AND channel = ? AND state = 'pending'",
            in: database)
        readdress = try Prepared(
            "UPDATE outbox SET channel = ? WHERE channel = ? AND state = 'pending'", in: database)
        park = try Prepared(
            "UPDATE outbox SET state = 'waiting', next_at = NULL WHERE channel = ? AND state = 'pending'",
            in: database)
        expire = try Prepared(
            """
            UPDATE outbox SET state = 'expired', settled_at = ?, last_error = coalesce(last_error, ?)
            WHERE channel = ? AND state = 'waiting' AND created_at < ?
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
            INSERT INTO channel (name, circuit, identity, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET circuit = excluded.circuit, identity = excluded.identity,
                updated_at = excluded.updated_at
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

    func release(_ release: OutboxRelease) throws(StoreFailure) {
        let spared = try JSONText.encode(release.later.keys.sorted())
        try hasten.run {
            $0.put(release.at)
            $0.put(release.channel)
            $0.put(spared)
        }
        for case (let id, let moment?) in release.later {
            try hastenOne.run {
                $0.put(moment)
                $0.put(id)
                $0.put(release.channel)
            }
        }
        for state in release.reviving {
            try revive.run {
                $0.put(release.at)
                $0.put(release.channel)
                $0.put(state)
            }
        }
        guard let newChannel = release.newChannel else { return }
        try readdress.run {
            $0.put(newChannel)
            $0.put(release.channel)
        }
    }

    func park(_ step: OutboxPark) throws(StoreFailure) {
        try park.run { $0.put(step.channel) }
        try expire.run {
            $0.put(step.at)
            $0.put(step.reason)
            $0.put(step.channel)
            $0.put(step.expiring)
        }
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
            $0.put(channel.identity)
            $0.put(channel.updatedAt)
        }
    }
}
