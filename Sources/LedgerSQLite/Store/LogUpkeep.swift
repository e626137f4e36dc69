import GRDB
import GRDBSQLite
import Glibc

/// Moves the write-ahead log into the database when no commit waits, instead of inside a commit.
struct LogUpkeep {
    /// The ledger's file.
    private let path: String
    private var pace = LogPace()

    init(of path: String) { self.path = path }

    /// A disk with less room than this is nearly full: four logs of the largest size.
    private static let tightRoom: UInt64 = 64 << 20

    /// Moves the log when it is time; called after each commit.
    ///
    /// - Returns: the failure of a sync, after which nothing may be written; any other one comes back.
    mutating func maintain(_ database: Database, isIdle: Bool, isShort: Bool) -> StoreFailure? {
        let isDue = pace.note(
            Self.takePagesWritten(database), isIdle: isIdle, isShort: isShort,
            isTight: { [path] in Self.isTight(path) })
        guard isDue else { return nil }
        do {
            try database.checkpoint(.passive)
            return nil
        } catch {
            let failure = StoreFailure(error)
            return failure.isSyncFailure ? failure : nil
        }
    }

    /// Whether the disk that holds the file is nearly full.
    private static func isTight(_ path: String) -> Bool {
        var disk = statvfs()
        guard unsafe statvfs(path, &disk) == 0 else { return false }
        return disk.room < tightRoom
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

/// Decides from the number of pages written when the log is moved.
struct LogPace {
    /// Pages after which an idle writer moves the log: 4 MB, SQLite's own default.
    ///
    /// Soon, for a log that is written over costs half of one that grows.
    static let idlePages = 1000
    /// Pages after which it is moved in any case, 16 MB.
    static let mostPages = 4000
    /// The same while the disk is full: the log must not grow, or it uses up the reserve.
    static let shortPages = 32
    /// The same while the disk is nearly full, 1 MB: when nothing else is left, what the log holds must fit into the
    /// database within the reserve.
    static let tightPages = 256

    /// After how many more pages the room on the disk is asked for again.
    static let roomEvery = 64

    /// Pages written to the log since it was last moved.
    private var pages = 0
    /// How many there must be before the room on the disk is asked for.
    private var asksAt = tightPages

    /// Notes a commit that wrote so many pages.
    ///
    /// - Returns: whether the log is moved now; it counts as moved then.
    mutating func note(
        _ written: Int, isIdle: Bool, isShort: Bool, isTight: () -> Bool
    ) -> Bool {
        pages += written
        let most = isShort ? Self.shortPages : isIdle ? Self.idlePages : Self.mostPages
        guard pages >= most || hasNoRoom(isTight) else { return false }
        (pages, asksAt) = (0, Self.tightPages)
        return true
    }

    private mutating func hasNoRoom(_ isTight: () -> Bool) -> Bool {
        guard pages >= asksAt else { return false }
        asksAt = pages + Self.roomEvery
        return isTight()
    }
}
