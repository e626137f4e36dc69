import GRDB
import Ledger
import Timeline
import Tracking

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
