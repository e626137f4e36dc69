import Delivery
import GRDB
import Grouping
import Ledger
import Timeline

extension OutboxRows {
    private static let query = """
        SELECT id, channel, cause, type, reason, state, attempts, next_at, last_error, status, created_at,
            settled_at, run, item, body
        FROM outbox
        """

    static func entry(id: String, in database: Database) throws(StoreFailure) -> OutboxRecord? {
        try Prepared(query + " WHERE id = ?", in: database).first({ $0.put(id) }, record)
    }

    static func entry(cause: String, in database: Database) throws(StoreFailure) -> OutboxRecord? {
        try Prepared(query + " WHERE cause = ?", in: database).first({ $0.put(cause) }, record)
    }

    static func entries(
        states: Set<OutboxState>, limit: Int, in database: Database
    ) throws(StoreFailure) -> [OutboxRecord] {
        let words = states.map(\.rawValue).sorted()
        let places = words.map { _ in "?" }.joined(separator: ", ")
        let filter = words.isEmpty ? "" : " WHERE state IN (\(places))"
        return try Prepared(query + filter + " ORDER BY number DESC LIMIT ?", in: database).all(
            {
                for word in words { $0.put(word) }
                $0.put(limit)
            }, record)
    }

    /// Those that nothing pending stands before in the line of their item, or else of their run.
    static func pending(
        channel: String, limit: Int, in database: Database
    ) throws(StoreFailure) -> [OutboxRecord] {
        try Prepared(
            query + """
                 AS entry WHERE channel = ? AND state = 'pending' AND NOT EXISTS (
                    SELECT 1 FROM outbox AS earlier WHERE earlier.state = 'pending'
                    AND earlier.channel = entry.channel
                    AND coalesce(earlier.item, earlier.run) = coalesce(entry.item, entry.run)
                    AND earlier.number < entry.number)
                ORDER BY next_at, number LIMIT ?
                """, in: database
        )
        .all(
            {
                $0.put(channel)
                $0.put(limit)
            }, record)
    }

    /// When the first entry that a rule holds is due.
    static func heldUntil(channel: String, in database: Database) throws(StoreFailure) -> Moment? {
        try Prepared(
            "SELECT min(next_at) FROM outbox WHERE channel = ? AND state = 'held'", in: database
        ).first({ $0.put(channel) }) { row in row.optionalMoment() } ?? nil
    }

    private static let untriedQuery =
        query
        + " WHERE channel = ? AND item = ? AND state = 'pending' AND attempts = 0 ORDER BY number LIMIT 1"

    static func untried(
        channel: String, item: String, in database: Database
    ) throws(StoreFailure) -> OutboxRecord? {
        try Prepared(untriedQuery, in: database).first(
            {
                $0.put(channel)
                $0.put(item)
            }, record)
    }

    /// The same for each of these items on each channel.
    static func untried(
        of items: some Collection<ItemKey>, channels: [String], in database: Database
    ) throws(StoreFailure) -> [(item: ItemKey, entry: OutboxRecord)] {
        guard !items.isEmpty, !channels.isEmpty else { return [] }
        let statement = try Prepared(untriedQuery, in: database)
        var found: [(ItemKey, OutboxRecord)] = []
        for item in items {
            let key = item.description
            for channel in channels {
                let entry = try statement.first(
                    {
                        $0.put(channel)
                        $0.put(key)
                    }, record)
                if let entry { found.append((item, entry)) }
            }
        }
        return found
    }

    static func counts(
        byChannelIn states: Set<OutboxState>, in database: Database
    ) throws(StoreFailure) -> [String: Int] {
        var counts: [String: Int] = [:]
        for state in states {
            // Written out, for the indexes of one state.
            let rows = try Prepared(
                "SELECT channel, count(*) FROM outbox WHERE state = '\(state.rawValue)' GROUP BY channel",
                in: database
            ).all { row in (row.text(), row.int()) }
            for (channel, count) in rows { counts[channel, default: 0] += count }
        }
        return counts
    }

    static func counts(in database: Database) throws(StoreFailure) -> [OutboxState: Int] {
        let counts = try Prepared("SELECT state, count(*) FROM outbox GROUP BY state", in: database)
            .all { row throws(StoreFailure) in (try row.word(OutboxState.self), row.int()) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    static func receipts(of outbox: String, in database: Database) throws(StoreFailure) -> [ReceiptRecord] {
        try Prepared(
            "SELECT outbox, at, kind, detail, status FROM receipt WHERE outbox = ? ORDER BY number",
            in: database
        )
        .all({ $0.put(outbox) }) { row throws(StoreFailure) in
            ReceiptRecord(
                outbox: row.text(),
                receipt: Receipt(
                    at: row.moment(), kind: try row.word(), detail: row.text(), status: row.optionalInt()))
        }
    }

    static func channel(named name: String, in database: Database) throws(StoreFailure) -> ChannelRecord? {
        try Prepared("SELECT name, circuit, identity, updated_at FROM channel WHERE name = ?", in: database)
            .first({ $0.put(name) }) { row in
                ChannelRecord(
                    name: row.text(), circuit: row.bytes(), identity: row.optionalText(),
                    updatedAt: row.moment())
            }
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> OutboxRecord {
        let id = row.text()
        let channel = row.text()
        let cause = row.text()
        let type = row.text()
        let reason = row.text()
        let state: OutboxState = try row.word()
        let attempts = row.int()
        let nextAt = row.optionalMoment()
        let lastError = row.optionalText()
        let status = row.optionalInt()
        let createdAt = row.moment()
        let settledAt = row.optionalMoment()
        var entry = OutboxRecord(
            id: id, channel: channel, cause: cause, type: type, reason: reason, state: state,
            createdAt: createdAt, nextAt: nextAt, run: row.optionalText(), item: row.optionalText(),
            body: row.bytes())
        entry.attempts = attempts
        entry.lastError = lastError
        entry.status = status
        entry.settledAt = settledAt
        return entry
    }
}
