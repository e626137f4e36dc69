import Delivery
import GRDB
import Ledger
import Timeline

/// What each item should look like on a channel that edits in place, and what it does look like.
struct SurfaceRows {
    private let want: Prepared
    private let show: Prepared
    private let dismiss: Prepared
    private let refuse: Prepared
    private let forget: Prepared

    init(in database: Database) throws(StoreFailure) {
        // A ring that was not shown yet is not lost to a silent revision that comes after it.
        want = try Prepared(
            """
            INSERT INTO surface (channel, item, wanted, rings, wanted_at, shown, dismissed)
            VALUES (?1, ?2, ?3, iif(?4, ?3, 0), ?5, 0, 0)
            ON CONFLICT DO UPDATE SET wanted = ?3, rings = iif(?4, ?3, rings), wanted_at = ?5,
                dismissed = iif(?4, 0, dismissed)
            """, in: database)
        show = try Prepared(
            """
            UPDATE surface SET shown = ?1, rings = iif(rings <= ?1, 0, rings), generation = ?2, remote = ?3,
                shown_at = ?4, refused = 0, refusal = NULL
            WHERE channel = ?5 AND item = ?6
            """, in: database)
        // What is wanted by now was not on the screen yet: nobody can have put it away.
        dismiss = try Prepared(
            """
            UPDATE surface SET dismissed = iif(?1, dismissed OR wanted = shown, 0) WHERE channel = ?2 AND item = ?3
            """, in: database)
        refuse = try Prepared(
            "UPDATE surface SET refused = ?, refusal = ? WHERE channel = ? AND item = ?", in: database)
        // Where nothing was shown, nothing is missing.
        forget = try Prepared(
            """
            UPDATE surface SET shown = 0, generation = NULL, remote = NULL
            WHERE channel = ? AND remote IS NOT NULL
            """, in: database)
    }

    func want(
        channel: String, item: String, revision: Int64, ring: Bool, at: Moment
    ) throws(StoreFailure) {
        try want.run {
            $0.put(channel)
            $0.put(item)
            $0.put(revision)
            $0.put(ring)
            $0.put(at)
        }
    }

    func show(
        channel: String, item: String, revision: Int64, remote: RemoteID?, at: Moment
    ) throws(StoreFailure) {
        let changed = try show.run {
            $0.put(revision)
            $0.put(remote?.generation)
            $0.put(remote?.id)
            $0.put(at)
            $0.put(channel)
            $0.put(item)
        }
        if changed == 0 { throw .fenced }
    }

    func dismiss(channel: String, item: String, _ dismissed: Bool) throws(StoreFailure) {
        let changed = try dismiss.run {
            $0.put(dismissed)
            $0.put(channel)
            $0.put(item)
        }
        if changed == 0 { throw .fenced }
    }

    func refuse(channel: String, item: String, revision: Int64, reason: String?) throws(StoreFailure) {
        let changed = try refuse.run {
            $0.put(revision)
            $0.put(reason)
            $0.put(channel)
            $0.put(item)
        }
        if changed == 0 { throw .fenced }
    }

    func forgetRemotes(of channel: String) throws(StoreFailure) {
        try forget.run { $0.put(channel) }
    }
}

extension SurfaceRows {
    private static let query = """
        SELECT channel, item, wanted, rings, wanted_at, shown, generation, remote, dismissed, refused, refusal
        FROM surface
        """

    /// Those that do not show what they should; with `all`, every one.
    ///
    /// Longest wanted first.
    static func surfaces(
        channel: String, all: Bool, in database: Database
    ) throws(StoreFailure) -> [SurfaceRecord] {
        try Prepared(
            query + " WHERE channel = ?"
                + (all ? "" : " AND wanted <> shown AND dismissed = 0 AND refused <> wanted")
                + " ORDER BY wanted_at, item", in: database
        )
        .all({ $0.put(channel) }, record)
    }

    static func refused(channel: String, in database: Database) throws(StoreFailure) -> [SurfaceRecord] {
        try Prepared(
            query + """
                 WHERE channel = ? AND refused <> 0 AND refused = wanted AND dismissed = 0
                ORDER BY wanted_at, item
                """, in: database
        )
        .all({ $0.put(channel) }, record)
    }

    static func surface(
        channel: String, item: String, in database: Database
    ) throws(StoreFailure) -> SurfaceRecord? {
        try Prepared(query + " WHERE channel = ? AND item = ?", in: database).first(
            {
                $0.put(channel)
                $0.put(item)
            }, record)
    }

    static func surface(
        channel: String, remote: RemoteID, in database: Database
    ) throws(StoreFailure) -> SurfaceRecord? {
        try Prepared(query + " WHERE channel = ? AND remote = ? AND generation = ?", in: database).first(
            {
                $0.put(channel)
                $0.put(remote.id)
                $0.put(remote.generation)
            }, record)
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> SurfaceRecord {
        let channel = row.text()
        let item = row.text()
        let wanted = row.integer()
        let rings = row.integer()
        var surface = SurfaceRecord(
            channel: channel, item: item, wanted: wanted, ring: rings > 0, wantedAt: row.moment())
        surface.shown = row.integer()
        let generation = row.optionalText()
        let remote = row.optionalText()
        if let generation, let remote { surface.remote = RemoteID(generation: generation, id: remote) }
        surface.dismissed = row.bool()
        surface.refused = row.integer()
        surface.refusal = row.optionalText()
        return surface
    }
}
