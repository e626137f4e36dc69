import Delivery
import GRDB
import Ledger
import Timeline

/// What was decided about events, channel by channel.
struct VerdictRows {
    private let insert: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT OR REPLACE INTO verdict (event, channel, item, at, action, stage, reason, until)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
    }

    func insert(_ verdicts: [VerdictRecord]) throws(StoreFailure) {
        for verdict in verdicts {
            try insert.run {
                $0.put(verdict.event)
                $0.put(verdict.channel)
                $0.put(verdict.item)
                $0.put(verdict.at)
                $0.put(verdict.action)
                $0.put(verdict.stage)
                $0.put(verdict.reason)
                $0.put(verdict.until)
            }
        }
    }
}

extension VerdictRows {
    private static let query = """
        SELECT event, channel, item, at, action, stage, reason, until FROM verdict
        """

    static func verdicts(on events: [Int64], in database: Database) throws(StoreFailure) -> [VerdictRecord] {
        let numbers = try JSONText.encode(events)
        return try Prepared(
            query + " WHERE event IN (SELECT value FROM json_each(?)) ORDER BY event, channel", in: database
        ).all({ $0.put(numbers) }, record)
    }

    static func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int, in database: Database
    ) throws(StoreFailure) -> [VerdictRecord] {
        let order = newest ? "DESC" : "ASC"
        let found = try Prepared(
            query + " WHERE event >= ? AND item = ? ORDER BY event \(order), channel \(order) LIMIT ?",
            in: database
        ).all(
            {
                $0.put(event)
                $0.put(key)
                $0.put(limit)
            }, record)
        return newest ? found.reversed() : found
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> VerdictRecord {
        VerdictRecord(
            event: row.integer(), channel: row.text(), item: row.optionalText(), at: row.moment(),
            action: try row.word(), stage: try row.word(), reason: row.text(), until: row.optionalMoment())
    }
}
