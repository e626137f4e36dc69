import GRDB
import Ledger

/// The next ordinal of every job, without a row that would have to be written for each run.
///
/// A job's runs count themselves: those that ended by the index of history, the open ones in memory. Belongs
/// to the writer; what a refused list was given is undone.
final class Ordinals {
    private let ended: Prepared
    private let open: Prepared
    private let past: Prepared
    /// The next ordinal of each job that has an open run, and of some that had one lately.
    private var next: [String: Int] = [:]
    /// Whether ``next`` has every job that ever had a run: then one it lacks needs no question.
    private var isComplete = false
    /// What the transaction gave, with what was known before.
    private var journal: [(job: String, before: Int?)] = []
    /// How many jobs are remembered before those without an open run are forgotten.
    private var room = 0

    private static let leastRoom = 16_384

    init(in database: Database) throws(StoreFailure) {
        ended = try Prepared(
            """
            SELECT max(
                coalesce((SELECT next FROM ordinal WHERE job = ?1), 1),
                coalesce((SELECT max(ordinal) + 1 FROM run INDEXED BY run_ended
                    WHERE job = ?1 AND state >= 20), 1))
            """, in: database)
        open = try Prepared(
            "SELECT job, max(ordinal) + 1 FROM run INDEXED BY run_open WHERE state < 20 GROUP BY job",
            in: database)
        past = try Prepared(
            """
            WITH RECURSIVE seen (job) AS (
                SELECT min(job) FROM run INDEXED BY run_ended WHERE state >= 20
                UNION ALL
                SELECT (SELECT min(job) FROM run INDEXED BY run_ended WHERE state >= 20 AND job > seen.job)
                FROM seen WHERE seen.job IS NOT NULL
            )
            SELECT job FROM (SELECT job FROM ordinal LIMIT ?1)
            UNION SELECT job FROM (SELECT job FROM seen WHERE job IS NOT NULL LIMIT ?1)
            """, in: database)
        try reload()
        try remember()
    }

    /// The ordinal the next run of `job` gets.
    func next(of job: String) throws(StoreFailure) -> Int {
        if let next = next[job] { return next }
        return isComplete ? 1 : try nextAfterEnded(of: job)
    }

    /// Makes room for about `count` runs that come in one list.
    func expect(_ count: Int) {
        next.reserveCapacity(next.count + count)
        journal.reserveCapacity(journal.count + count)
    }

    /// A run of `job` was inserted under `ordinal`.
    func give(_ ordinal: Int, to job: String) {
        journal.append((job, next.updateValue(ordinal + 1, forKey: job)))
    }

    /// How many were given in this transaction, for ``undo(to:)``.
    var given: Int { journal.count }

    /// Undoes all but the first `count` of this transaction.
    func undo(to count: Int) {
        while journal.count > count, let last = journal.popLast() { next[last.job] = last.before }
    }

    /// The transaction is committed.
    func keep() {
        journal.removeAll()
        // Forgetting is no duty: if it fails, the next transaction tries again.
        if next.count > room { try? reload() }
    }

    /// Remembers all jobs that ever had a run, unless they are many.
    ///
    /// - Complexity: O(jobs) seeks, however many runs they have.
    private func remember() throws(StoreFailure) {
        let jobs = try past.all({ $0.put(Self.leastRoom + 1) }, { row in row.text() })
        guard jobs.count <= Self.leastRoom else { return }
        for job in jobs where next[job] == nil { next[job] = try nextAfterEnded(of: job) }
        isComplete = next.count <= room
    }

    private func reload() throws(StoreFailure) {
        var fresh: [String: Int] = [:]
        for (job, next) in try open.all({ _ in }, { row in (row.text(), row.int()) }) {
            // A newer run may have ended before an older one.
            fresh[job] = max(next, try nextAfterEnded(of: job))
        }
        next = fresh
        isComplete = false
        room = max(Self.leastRoom, 2 * fresh.count)
    }

    private func nextAfterEnded(of job: String) throws(StoreFailure) -> Int {
        try ended.first({ $0.put(job) }) { row in row.int() } ?? 1
    }
}

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
