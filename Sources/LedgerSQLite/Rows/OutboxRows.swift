import Delivery
import GRDB
import Grouping
import Ledger
import Timeline
import Tracking

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
    private let discard: Prepared
    private let supersede: Prepared
    private let replay: Prepared
    private let rewrite: Prepared
    private let receipt: Prepared
    private let putChannel: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO outbox (id, channel, cause, type, reason, state, attempts, next_at, last_error, status,
                created_at, settled_at, run, item, body, held_by, held)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cause) DO NOTHING
            """, in: database)
        move = try Prepared(
            """
            UPDATE outbox SET state = ?, attempts = ?, next_at = ?, last_error = coalesce(?, last_error),
                status = coalesce(?, status), settled_at = ?, held_by = coalesce(?, held_by),
                held = coalesce(?, held), listed_in = coalesce(?, listed_in)
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
        discard = try Prepared(
            """
            UPDATE outbox SET state = 'discarded', next_at = NULL, settled_at = ?
            WHERE channel = ? AND state IN ('pending', 'waiting', 'held')
            """, in: database)
        supersede = try Prepared(
            """
            UPDATE outbox SET state = 'superseded', next_at = NULL, settled_at = ?
            WHERE item = ? AND state = 'held' AND coalesce(held_by, 'othersFirst') = 'othersFirst'
            """, in: database)
        // Once tried, so that nothing newer is written over it.
        replay = try Prepared(
            """
            UPDATE outbox SET state = 'pending', next_at = ?, settled_at = NULL, attempts = 1
            WHERE channel = ? AND created_at >= ? AND state IN ('delivered', 'dead', 'expired', 'discarded')
            """, in: database)
        rewrite = try Prepared(
            """
            UPDATE outbox SET reason = ?, body = ?, item = ?, next_at = ?
            WHERE id = ? AND state = 'pending' AND attempts = 0
            """, in: database)
        receipt = try Prepared(
            "INSERT INTO receipt (outbox, at, kind, detail, status, latency, answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
            in: database)
        putChannel = try Prepared(
            """
            INSERT INTO channel (name, circuit, identity, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET circuit = excluded.circuit, identity = excluded.identity,
                updated_at = excluded.updated_at
            """, in: database)
    }

    /// Returns false when an entry of that cause is there already.
    func insert(_ entry: OutboxRecord) throws(StoreFailure) -> Bool {
        let held: String? = if let held = entry.held { try JSONText.encode(held) } else { nil }
        let changed = try insert.run {
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
            $0.put(entry.held?.reason.rawValue)
            $0.put(held)
        }
        return changed > 0
    }

    func move(_ step: OutboxMove) throws(StoreFailure) {
        let held: String? = if let held = step.held { try JSONText.encode(held) } else { nil }
        try move.change {
            $0.put(step.to)
            $0.put(step.nextAttempts)
            $0.put(step.nextAt)
            $0.put(step.lastError)
            $0.put(step.status)
            $0.put(step.settledAt)
            $0.put(step.held?.reason.rawValue)
            $0.put(held)
            $0.put(step.listedIn)
            $0.put(step.id)
            $0.put(step.from)
            $0.put(step.attempts)
        }
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

    func discard(channel: String, at: Moment) throws(StoreFailure) {
        try discard.run {
            $0.put(at)
            $0.put(channel)
        }
    }

    func supersedeHeld(item: String, at: Moment) throws(StoreFailure) {
        try supersede.run {
            $0.put(at)
            $0.put(item)
        }
    }

    func replay(channel: String, since: Moment, at: Moment) throws(StoreFailure) {
        try replay.run {
            $0.put(at)
            $0.put(channel)
            $0.put(since)
        }
    }

    func rewrite(
        _ id: String, reason: String, body: [UInt8], item: String?, nextAt: Moment
    ) throws(StoreFailure) {
        try rewrite.change {
            $0.put(reason)
            $0.put(body)
            $0.put(item)
            $0.put(nextAt)
            $0.put(id)
        }
    }

    func insert(_ record: ReceiptRecord) throws(StoreFailure) {
        try receipt.run {
            $0.put(record.outbox)
            $0.put(record.receipt.at)
            $0.put(record.receipt.kind)
            $0.put(record.receipt.detail)
            $0.put(record.receipt.status)
            $0.put(record.receipt.latency)
            $0.put(record.receipt.answer)
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

extension OutboxRows {
    private static let query = """
        SELECT id, channel, cause, type, reason, state, attempts, next_at, last_error, status, created_at,
            settled_at, run, item, body, held, listed_in
        FROM outbox
        """

    static func entry(id: String, in database: Database) throws(StoreFailure) -> OutboxRecord? {
        try Prepared(query + " WHERE id = ?", in: database).first({ $0.put(id) }, record)
    }

    static func entry(cause: String, in database: Database) throws(StoreFailure) -> OutboxRecord? {
        try Prepared(query + " WHERE cause = ?", in: database).first({ $0.put(cause) }, record)
    }

    static func entries(
        item: String, channel: String, limit: Int, in database: Database
    ) throws(StoreFailure) -> [OutboxRecord] {
        try Prepared(query + " WHERE item = ? AND channel = ? ORDER BY number DESC LIMIT ?", in: database)
            .all(
                {
                    $0.put(item)
                    $0.put(channel)
                    $0.put(limit)
                }, record)
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

    /// When the first entry is due that a rule holds, but for those that are judged again then.
    static func heldUntil(channel: String, in database: Database) throws(StoreFailure) -> Moment? {
        let others = HeldMatter.judgedAgain.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return try Prepared(
            """
            SELECT min(next_at) FROM outbox WHERE channel = ? AND state = 'held'
                AND coalesce(held_by, '') NOT IN (\(others))
            """, in: database
        ).first({ $0.put(channel) }) { row in row.optionalMoment() } ?? nil
    }

    /// What rules hold, oldest first: of these items, or all that is judged again.
    static func held(of items: [String]?, in database: Database) throws(StoreFailure) -> [OutboxRecord] {
        guard let items else {
            let reasons = HeldMatter.judgedAgain.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            return try Prepared(
                query + " WHERE state = 'held' AND held_by IN (\(reasons)) ORDER BY number", in: database
            ).all({ _ in }, record)
        }
        let statement = try Prepared(
            query + " WHERE item = ? AND state = 'held' ORDER BY number", in: database)
        var found: [OutboxRecord] = []
        for item in items { found += try statement.all({ $0.put(item) }, record) }
        return found
    }

    /// See ``Ledger/failureArrivals(before:)``; the first failures are looked at, for those are the ones that are sent.
    static func failureArrivals(
        before run: String, in database: Database
    ) throws(StoreFailure) -> [String: FailureArrival] {
        let found = try Prepared(
            """
            WITH last AS (SELECT job, ordinal FROM run WHERE id = ?1),
            success AS (SELECT ordinal FROM run WHERE job = (SELECT job FROM last) AND state >= 20 AND state = 20
                AND ordinal < (SELECT ordinal FROM last) ORDER BY ordinal DESC LIMIT 1),
            failed AS (SELECT id FROM run WHERE job = (SELECT job FROM last) AND state >= 20
                AND ordinal < (SELECT ordinal FROM last)
                AND ordinal > coalesce((SELECT ordinal FROM success), 0) ORDER BY ordinal LIMIT 200)
            SELECT entry.channel, coalesce(digest.state, entry.state) FROM failed
            JOIN outbox AS entry ON entry.run = failed.id AND entry.type IN ('run.failed', 'run.lost')
            LEFT JOIN outbox AS digest ON digest.id = entry.listed_in
            """, in: database
        ).all({ $0.put(run) }) { row throws(StoreFailure) in
            (row.text(), FailureArrival(try row.word(OutboxState.self)))
        }
        return Dictionary(found, uniquingKeysWith: max)
    }

    private static let untriedQuery =
        query
            + """
             WHERE channel = ?1 AND coalesce(item, run) = ?2 AND item = ?2 AND state = 'pending' AND attempts = 0
            ORDER BY number DESC LIMIT 1
            """

    /// The newest pending, never tried entry for each of these items on each channel: it may be rewritten.
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

    /// How many entries of a channel that were made since a moment can be sent again.
    static func replayable(
        channel: String, since: Moment, in database: Database
    ) throws(StoreFailure) -> Int {
        try Prepared(
            """
            SELECT count(*) FROM outbox WHERE channel = ? AND created_at >= ?
                AND state IN ('delivered', 'dead', 'expired', 'discarded')
            """, in: database
        ).first({
            $0.put(channel)
            $0.put(since)
        }) { row in row.int() } ?? 0
    }

    static func counts(in database: Database) throws(StoreFailure) -> [OutboxState: Int] {
        let counts = try Prepared("SELECT state, count(*) FROM outbox GROUP BY state", in: database)
            .all { row throws(StoreFailure) in (try row.word(OutboxState.self), row.int()) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    static func weights(channel: String, in database: Database) throws(StoreFailure) -> [OutboxWeight] {
        var weights: [(number: Int, weight: OutboxWeight)] = []
        for state in [OutboxState.pending, .waiting, .held] {
            // Written out, for the indexes of one state.
            weights += try Prepared(
                """
                SELECT number, id, type, attempts, created_at, length(body) FROM outbox
                WHERE channel = ? AND state = '\(state.rawValue)'
                """, in: database
            ).all({ $0.put(channel) }) { row in
                (
                    row.int(),
                    OutboxWeight(
                        id: row.text(), type: row.text(), state: state, attempts: row.int(),
                        createdAt: row.moment(), bytes: row.int())
                )
            }
        }
        return weights.sorted { $0.number < $1.number }.map(\.weight)
    }

    static func receipts(of outbox: String, in database: Database) throws(StoreFailure) -> [ReceiptRecord] {
        try Prepared(
            "SELECT outbox, at, kind, detail, status, latency, answer FROM receipt WHERE outbox = ? ORDER BY number",
            in: database
        )
        .all({ $0.put(outbox) }) { row throws(StoreFailure) in
            ReceiptRecord(
                outbox: row.text(),
                receipt: Receipt(
                    at: row.moment(), kind: try row.word(), detail: row.text(), status: row.optionalInt(),
                    latency: row.optionalDuration(), answer: row.optionalText()))
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
        // A rule of a later version: it is released by its moment alone.
        entry.held = row.optionalText().flatMap { try? JSON.decode(from: $0.utf8) }
        entry.listedIn = row.optionalText()
        return entry
    }
}
