import GRDB
import Ledger

/// What must report in time.
struct ExpectationRows {
    private let insert: Prepared
    private let update: Prepared
    private let delete: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO expectation (name, digest, revision, alert_at, body) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, in: database)
        update = try Prepared(
            "UPDATE expectation SET revision = ?, alert_at = ?, body = ? WHERE name = ? AND revision = ?",
            in: database)
        delete = try Prepared("DELETE FROM expectation WHERE name = ?", in: database)
    }

    func put(_ expectation: ExpectationRecord, replacing old: Int64?) throws(StoreFailure) {
        let body = try JSONText.encode(expectation)
        let changed: Int
        if let old {
            changed = try update.run {
                $0.put(expectation.revision)
                $0.put(expectation.reports.alertAt)
                $0.put(body)
                $0.put(expectation.name)
                $0.put(old)
            }
        } else {
            changed = try insert.run {
                $0.put(expectation.name)
                $0.put(expectation.digest)
                $0.put(expectation.revision)
                $0.put(expectation.reports.alertAt)
                $0.put(body)
            }
        }
        if changed == 0 { throw .fenced }
    }

    func remove(_ name: String) throws(StoreFailure) {
        if try delete.run({ $0.put(name) }) == 0 { throw .fenced }
    }

    static func expectations(in database: Database) throws(StoreFailure) -> [ExpectationRecord] {
        try Prepared("SELECT body FROM expectation ORDER BY name", in: database).all({ _ in }) {
            row throws(StoreFailure) in try JSONText.decode(row.text())
        }
    }

    static func expectation(digest: String, in database: Database) throws(StoreFailure) -> ExpectationRecord?
    {
        try Prepared("SELECT body FROM expectation WHERE digest = ?", in: database).first({ $0.put(digest) })
        {
            row throws(StoreFailure) in try JSONText.decode(row.text())
        }
    }
}
