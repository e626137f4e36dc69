import GRDB
import Ledger
import Timeline

/// The tokens of the door.
struct TokenRows {
    private let insert: Prepared
    private let delete: Prepared
    private let use: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO token (name, digest, scopes, job, signature, made_at, id) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            in: database)
        delete = try Prepared("DELETE FROM token WHERE name = ?", in: database)
        use = try Prepared(
            "UPDATE token SET used_at = max(coalesce(used_at, 0), ?) WHERE id = ?", in: database)
    }

    func put(_ token: TokenRecord) throws(StoreFailure) {
        try insert.change {
            $0.put(token.name)
            $0.put(token.digest)
            $0.put(token.scopes.map(\.rawValue).sorted().joined(separator: " "))
            $0.put(token.job)
            $0.put(token.signature?.rawValue)
            $0.put(token.madeAt)
            $0.put(token.id)
        }
    }

    func remove(_ name: String) throws(StoreFailure) {
        try delete.change { $0.put(name) }
    }

    /// Notes that a token was used; one that was removed meanwhile is ignored.
    func note(_ id: String, usedAt: Moment) throws(StoreFailure) {
        try use.run {
            $0.put(usedAt)
            $0.put(id)
        }
    }

    private static let query = """
        SELECT name, digest, scopes, job, signature, made_at, coalesce(id, name), used_at FROM token
        """

    static func tokens(in database: Database) throws(StoreFailure) -> [TokenRecord] {
        try Prepared(query + " ORDER BY name", in: database).all({ _ in }, record)
    }

    static func token(digest: String, in database: Database) throws(StoreFailure) -> TokenRecord? {
        try Prepared(query + " WHERE digest = ?", in: database).first({ $0.put(digest) }, record)
    }

    /// A scope of a later version allows nothing here.
    private static func record(from row: inout Columns) throws(StoreFailure) -> TokenRecord {
        let (name, digest, words, job) = (row.text(), row.text(), row.text(), row.optionalText())
        let scopes = words.split(separator: " ").compactMap { TokenScope(rawValue: String($0)) }
        let signature = row.optionalText().flatMap(HookSignature.init)
        let madeAt = row.moment()
        var token = TokenRecord(
            id: row.text(), name: name, digest: digest, scopes: Set(scopes), job: job, madeAt: madeAt)
        (token.signature, token.usedAt) = (signature, row.optionalMoment())
        return token
    }
}

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
        if let old {
            try update.change {
                $0.put(expectation.revision)
                $0.put(expectation.reports.alertAt)
                $0.put(body)
                $0.put(expectation.name)
                $0.put(old)
            }
        } else {
            try insert.change {
                $0.put(expectation.name)
                $0.put(expectation.digest)
                $0.put(expectation.revision)
                $0.put(expectation.reports.alertAt)
                $0.put(body)
            }
        }
    }

    func remove(_ name: String) throws(StoreFailure) {
        try delete.change { $0.put(name) }
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
