import Delivery
import GRDB
import Grouping
import Ledger
import Timeline
import Tracking

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
        try show.change {
            $0.put(revision)
            $0.put(remote?.generation)
            $0.put(remote?.id)
            $0.put(at)
            $0.put(channel)
            $0.put(item)
        }
    }

    func dismiss(channel: String, item: String, _ dismissed: Bool) throws(StoreFailure) {
        try dismiss.change {
            $0.put(dismissed)
            $0.put(channel)
            $0.put(item)
        }
    }

    func refuse(channel: String, item: String, revision: Int64, reason: String?) throws(StoreFailure) {
        try refuse.change {
            $0.put(revision)
            $0.put(reason)
            $0.put(channel)
            $0.put(item)
        }
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

/// The channels that were made on the command line.
struct ChannelEntryRows {
    private let insert: Prepared
    private let delete: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            "INSERT INTO own_channel (name, settings, words) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
            in: database)
        delete = try Prepared("DELETE FROM own_channel WHERE name = ?", in: database)
    }

    func put(_ channel: ChannelEntry) throws(StoreFailure) {
        let settings = String(decoding: channel.settings.bytes, as: UTF8.self)
        try insert.change {
            $0.put(channel.name)
            $0.put(settings)
            $0.put(channel.when.joined(separator: " "))
        }
    }

    func remove(_ name: String) throws(StoreFailure) {
        try delete.change { $0.put(name) }
    }

    static func entries(in database: Database) throws(StoreFailure) -> [ChannelEntry] {
        try Prepared("SELECT name, settings, words FROM own_channel ORDER BY number", in: database)
            .all { row throws(StoreFailure) in
                let (name, text, words) = (row.text(), row.text(), row.text())
                guard let settings = JSON(parsing: Array(text.utf8)[...]) else {
                    throw .unreadable("the settings of channel \(name) can't be read")
                }
                return ChannelEntry(
                    name: name, settings: settings, when: words.split(separator: " ").map(String.init))
            }
    }
}

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
        try insert.change {
            $0.put(silence.id)
            $0.put(matchers)
            $0.put(silence.from)
            $0.put(silence.until)
            $0.put(silence.by)
            $0.put(silence.note)
        }
    }

    func end(_ id: String, at moment: Moment) throws(StoreFailure) {
        try end.change {
            $0.put(moment)
            $0.put(id)
            $0.put(moment)
        }
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

/// Why attempts of outbox entries failed, and what other channels are sent of those that do not arrive.
struct FallbackRows {
    private let insert: Prepared
    private let put: Prepared
    private let remove: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO outbox_attempt (outbox, number, at, latency, reason, status, error, answer)
            VALUES (?1, CASE WHEN EXISTS (SELECT 1 FROM outbox_attempt WHERE outbox = ?1 AND number = ?2)
                THEN (SELECT max(number) + 1 FROM outbox_attempt WHERE outbox = ?1) ELSE ?2 END,
                ?3, ?4, ?5, ?6, ?7, ?8)
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
        try remove.change { $0.put(outbox) }
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

    static func count(in database: Database) throws(StoreFailure) -> Int {
        try Prepared("SELECT count(*) FROM fallback", in: database).first({ _ in }) { row in row.int() } ?? 0
    }
}
