import GRDB
import Ledger
import Timeline
import Tracking

/// What is past its time: found and removed in small parts.
struct HistoryRows {
    private let removeRun: Prepared
    private let hasRun: Prepared
    private let removals: [Prepared]

    init(in database: Database) throws(StoreFailure) {
        removeRun = try Prepared("DELETE FROM run WHERE id = ? AND state >= 20", in: database)
        hasRun = try Prepared("SELECT 1 FROM run WHERE id = ?", in: database)
        var removals: [Prepared] = []
        for kind in Self.kinds {
            removals.append(
                try Prepared(
                    "DELETE FROM \(kind.table) WHERE \(kind.key) IN (\(kind.selection))", in: database))
        }
        self.removals = removals
    }

    func removeRun(_ id: String) throws(StoreFailure) {
        if try removeRun.run({ $0.put(id) }) > 0 { return }
        if try hasRun.first({ $0.put(id) }, { _ in true }) == true { throw .fenced }
    }

    func remove(before moment: Moment, limit: Int) throws(StoreFailure) {
        for removal in removals {
            try removal.run {
                $0.put(moment)
                $0.put(limit)
            }
        }
    }
}

extension HistoryRows {
    private struct Kind {
        var table: String
        var key: String
        var selection: String
    }

    /// Of tables in the order of time only the oldest rows are considered, ten times as many as may go: it
    /// costs the same however long the table is.
    private static let kinds = [
        // What a consumer has not read stays, and the newest: the next one is numbered after it.
        Kind(
            table: "event", key: "seq",
            selection: """
                SELECT seq FROM (SELECT seq, at FROM event ORDER BY seq LIMIT ?2 * 10)
                WHERE at < ?1 AND seq <= (SELECT coalesce(min(seq), 0) FROM consumer)
                AND seq < (SELECT max(seq) FROM event) LIMIT ?2
                """),
        Kind(
            table: "verdict", key: "(event, channel)",
            selection: """
                SELECT event, channel FROM
                (SELECT event, channel, at FROM verdict ORDER BY event, channel LIMIT ?2 * 10)
                WHERE at < ?1 LIMIT ?2
                """),
        Kind(
            table: "outbox", key: "number",
            selection: """
                SELECT number FROM (SELECT number, state, settled_at FROM outbox ORDER BY number LIMIT ?2 * 10)
                WHERE settled_at < ?1 AND state NOT IN ('pending', 'waiting', 'held') LIMIT ?2
                """),
        Kind(
            table: "receipt", key: "number",
            selection: """
                SELECT number FROM (SELECT number, at FROM receipt ORDER BY number LIMIT ?2 * 10)
                WHERE at < ?1 LIMIT ?2
                """),
        Kind(
            table: "slot_span", key: "(job, era, first)",
            selection: """
                SELECT job, era, first FROM slot_span WHERE last < ?1
                ORDER BY era, last, job, first LIMIT ?2
                """),
        // What is shown of a question goes after it, as nobody will ever show it again.
        Kind(
            table: "item", key: "key",
            selection: """
                SELECT key FROM item WHERE key > 'question:' AND key < 'question;' AND \(isOrphan("key"))
                ORDER BY key LIMIT ?2
                """),
        Kind(
            table: "surface", key: "(channel, item)",
            selection: """
                SELECT channel, item FROM surface
                WHERE item > 'question:' AND item < 'question;' AND \(isOrphan("item"))
                ORDER BY channel, item LIMIT ?2
                """),
        Kind(
            table: "question", key: "number",
            selection: """
                SELECT number FROM (SELECT number, closed_at FROM question ORDER BY number LIMIT ?2 * 10)
                WHERE closed_at < ?1 LIMIT ?2
                """),
    ]

    /// Whether the question of an item's key was removed.
    private static func isOrphan(_ key: String) -> String {
        // Named, so that the first parameter has a place in every selection.
        "?1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM question WHERE id = substr(\(key), 10))"
    }

    /// How many rows ``remove(before:limit:)`` would remove now.
    static func count(before moment: Moment, limit: Int, in database: Database) throws(StoreFailure) -> Int {
        var count = 0
        for kind in kinds {
            let counted = try Prepared("SELECT count(*) FROM (\(kind.selection))", in: database)
            count +=
                try counted.first(
                    {
                        $0.put(moment)
                        $0.put(limit)
                    }, { row in row.int() }) ?? 0
        }
        return count
    }

    /// Names with ended runs, in the order of the alphabet; found by leaping from name to name.
    static func jobs(after job: String, limit: Int, in database: Database) throws(StoreFailure) -> [String] {
        let next = "SELECT min(job) FROM run INDEXED BY run_ended WHERE state >= 20 AND job >"
        return try Prepared(
            """
            WITH RECURSIVE name (job) AS (
                \(next) ?1 UNION ALL SELECT (\(next) name.job) FROM name WHERE job IS NOT NULL LIMIT ?2 + 1
            ) SELECT job FROM name WHERE job IS NOT NULL LIMIT ?2
            """, in: database
        ).all(
            {
                $0.put(job)
                $0.put(limit)
            }, { row in row.text() })
    }

    static func expired(
        of job: String, by retention: Retention, boot: String, at now: Moment, limit: Int,
        in database: Database
    ) throws(StoreFailure) -> [ExpiredRun] {
        // What stays in any case is among the oldest: as many more are considered.
        let window = limit + retention.failures + retention.completions
        let oldest = try Prepared(
            """
            SELECT id, ordinal, state, ended_at, attempt, cause FROM run INDEXED BY run_ended
            WHERE job = ?1 AND state >= 20 ORDER BY ordinal LIMIT ?2
            """, in: database
        ).all(
            {
                $0.put(job)
                $0.put(window)
            }, OldRun.init)
        let floor = try ordinal(of: job, place: retention.runs, among: "state >= 20", in: database)
        let expired = oldest.filter { run in
            // The cause that may come again in this boot must be found again.
            run.cause != "boot:\(boot)"
                && (run.ordinal < floor || run.endedAt.map { now - $0 > retention.age } ?? false)
        }
        if expired.isEmpty { return [] }
        let failed = [RunState.failed, .timedOut, .lost].map { "\(StoredState.code(of: $0))" }
        let failures = try ordinal(
            of: job, place: retention.failures, among: "state IN (\(failed.joined(separator: ", ")))",
            in: database)
        let completed = StoredState.code(of: .completed)
        let completions = try ordinal(
            of: job, place: retention.completions, among: "state = \(completed)", in: database)
        return expired.filter { run in
            switch run.state {
            case .failed, .timedOut, .lost: run.ordinal < failures
            case .completed: run.ordinal < completions
            default: true
            }
        }.prefix(limit).map { ExpiredRun(id: $0.id, attempts: $0.attempts) }
    }

    /// The ordinal of the ended run that has `place` - 1 newer ones of its kind; 0 when there are fewer.
    private static func ordinal(
        of job: String, place: Int, among condition: String, in database: Database
    ) throws(StoreFailure) -> Int {
        guard place > 0 else { return .max }
        return try Prepared(
            """
            SELECT ordinal FROM run INDEXED BY run_ended WHERE job = ?1 AND state >= 20 AND \(condition)
            ORDER BY ordinal DESC LIMIT 1 OFFSET ?2
            """, in: database
        ).first(
            {
                $0.put(job)
                $0.put(place - 1)
            }, { row in row.int() }) ?? 0
    }
}

/// What is asked of a run that may be past its time.
private struct OldRun {
    var id: String
    var ordinal: Int
    var state: RunState
    var endedAt: Moment?
    var attempts: Int
    var cause: String

    init(from row: inout Columns) throws(StoreFailure) {
        id = row.text()
        ordinal = row.int()
        state = try StoredState.state(of: row.integer())
        endedAt = row.optionalMoment()
        attempts = row.int()
        cause = row.text()
    }
}

/// How completed runs got on; stored with the run that completed, and read for the estimates of later ones.
enum ProfileRows {
    /// How many ended runs are looked at for each that is asked for: a job that fails day after day costs no more.
    static let looksAt = 10

    /// The last `limit` profiles of a job, oldest first.
    ///
    /// A run of an older Belfry, or one recorded without a daemon, has none; its row shows how long its only attempt
    /// took.
    static func last(of job: String, limit: Int, in database: Database) throws(StoreFailure) -> [RunProfile] {
        let statement = try Prepared(
            """
            SELECT profile, attempt, started_at, ended_at FROM (
                SELECT profile, attempt, started_at, ended_at, ordinal, state FROM run INDEXED BY run_ended
                WHERE job = ?1 AND state >= 20 ORDER BY ordinal DESC LIMIT ?2 * \(looksAt))
            WHERE state = \(StoredState.code(of: .completed)) ORDER BY ordinal DESC LIMIT ?2
            """, in: database)
        let profiles = try statement.all(
            {
                $0.put(job)
                $0.put(limit)
            }, profile)
        return profiles.reversed().compactMap(\.self)
    }

    private static func profile(from row: inout Columns) -> RunProfile? {
        let bytes = row.bytes()
        if !bytes.isEmpty { return RunProfile(bytes: bytes) }
        guard row.int() == 1, let start = row.optionalMoment(), let end = row.optionalMoment() else {
            return nil
        }
        return RunProfile(total: (end - start) / .seconds(1))
    }
}
