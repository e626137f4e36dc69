import GRDB
import Ledger

/// The marks in the file's header, and the way from any older schema to the newest.
enum Schema {
    /// "BLFR": the file is a ledger.
    ///
    /// Kept in the header's `application_id`.
    static let application: UInt32 = 0x424C_4652

    /// Brings the file to the newest schema.
    ///
    /// - Throws: `.newer` when a newer Belfry wrote it, `.damaged` when it is not a ledger; untouched then.
    static func migrate(_ database: Database, path: String) throws(LedgerError) {
        do {
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            if version > Migration.newest {
                throw LedgerError.newer(
                    path: path, found: "schema \(version), this one knows \(Migration.newest)")
            }
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if version == 0 && tables > 0 {
                throw LedgerError.damaged(path: path, detail: "it is a database of another program")
            }
            for migration in Migration.all where migration.version > version {
                try database.inTransaction(.immediate) {
                    try database.execute(sql: migration.sql)
                    try database.execute(sql: "PRAGMA user_version = \(migration.version)")
                    try database.execute(sql: "PRAGMA application_id = \(application)")
                    return .commit
                }
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw StoreFailure(error).error(path: path)
        }
    }
}
