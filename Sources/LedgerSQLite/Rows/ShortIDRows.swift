import GRDB
import Ledger

/// Finds ids by a part of them.
enum ShortIDRows {
    static func ids(
        of kind: IDKind, matching short: ShortID, limit: Int, in database: Database
    ) throws(StoreFailure) -> [String] {
        let byStart = try ids(in: kind, where: "id", is: short, limit: limit, in: database)
        guard byStart.isEmpty, short.text.utf8.count <= ShortID.shownDigits else { return byStart }
        let end = "substr(id, -\(ShortID.shownDigits))"
        return try ids(in: kind, where: end, is: short, limit: limit, in: database)
    }

    /// Reads the index of ids alone, from its end: ids begin with the time.
    private static func ids(
        in kind: IDKind, where part: String, is short: ShortID, limit: Int, in database: Database
    ) throws(StoreFailure) -> [String] {
        try Prepared(
            "SELECT id FROM \(kind.rawValue) WHERE \(part) >= ? AND \(part) < ? ORDER BY id DESC LIMIT ?",
            in: database
        ).all(
            {
                $0.put(short.text)
                $0.put(short.upperBound)
                $0.put(limit)
            }
        ) { row in row.text() }
    }
}
