import GRDB
import GRDBSQLite

/// Moves the write-ahead log into the database when nobody waits, instead of inside somebody's commit.
struct LogUpkeep {
    /// Pages written to the log since it was last moved.
    private var pages = 0

    /// Pages after which an idle writer moves the log: 4 MB, SQLite's own default.
    private static let idlePages = 1000
    /// Pages after which it is moved in any case, so that a busy day can't grow it without end.
    private static let mostPages = 16_000
    /// The same while the disk is full: the log must not grow, or it uses up the reserve.
    private static let shortPages = 32

    /// Moves the log when it is time; called after each commit.
    ///
    /// - Returns: the failure of a sync, after which nothing may be written; any other one comes back.
    mutating func maintain(_ database: Database, isIdle: Bool, isShort: Bool) -> StoreFailure? {
        pages += Self.takePagesWritten(database)
        let most = isShort ? Self.shortPages : isIdle ? Self.idlePages : Self.mostPages
        guard pages >= most else { return nil }
        pages = 0
        do {
            try database.checkpoint(.passive)
            return nil
        } catch {
            let failure = StoreFailure(error)
            return failure.isSyncFailure ? failure : nil
        }
    }

    /// Empties the log before the file is closed.
    ///
    /// What can't be moved stays in the log and is found there.
    static func truncate(_ database: Database) {
        _ = try? database.checkpoint(.truncate)
    }

    /// The corresponding C function is `sqlite3_db_status` with `SQLITE_DBSTATUS_CACHE_WRITE`.
    private static func takePagesWritten(_ database: Database) -> Int {
        var pages: Int32 = 0
        var highest: Int32 = 0
        unsafe sqlite3_db_status(
            database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }
}
