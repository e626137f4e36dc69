import Delivery
import GRDB
import Ledger
import Timeline

/// What people silenced.
struct SilenceRows {
    private let insert: Prepared
    private let end: Prepared
    private let prune: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO silence (id, matchers, begins, ends, made_by, note) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING
            """, in: database)
        end = try Prepared("UPDATE silence SET ends = ? WHERE id = ? AND ends > ?", in: database)
        prune = try Prepared("DELETE FROM silence WHERE ends < ?", in: database)
    }

    func put(_ silence: Silence, endedBefore: Moment) throws(StoreFailure) {
        try prune.run { $0.put(endedBefore) }
        let matchers = try JSONText.encode(silence.matchers.map(\.text))
        let changed = try insert.run {
            $0.put(silence.id)
            $0.put(matchers)
            $0.put(silence.from)
            $0.put(silence.until)
            $0.put(silence.by)
            $0.put(silence.note)
        }
        if changed == 0 { throw .fenced }
    }

    func end(_ id: String, at moment: Moment) throws(StoreFailure) {
        let changed = try end.run {
            $0.put(moment)
            $0.put(id)
            $0.put(moment)
        }
        if changed == 0 { throw .fenced }
    }
}

extension SilenceRows {
    /// Those that a later version made, with what this one can't read, are left out.
    static func silences(in database: Database) throws(StoreFailure) -> [Silence] {
        try Prepared(
            "SELECT id, matchers, begins, ends, made_by, note FROM silence ORDER BY number", in: database
        ).all { row throws(StoreFailure) -> Silence? in
            let (id, texts) = (row.text(), try JSONText.decode(row.text(), as: [String].self))
            let (from, until, by, note) = (row.moment(), row.moment(), row.text(), row.optionalText())
            let matchers = texts.compactMap { try? Matcher($0) }
            guard matchers.count == texts.count else { return nil }
            return try? Silence(id: id, matchers: matchers, from: from, until: until, by: by, note: note)
        }.compactMap(\.self)
    }
}
