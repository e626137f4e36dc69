import GRDB
import Ledger

/// One step of the schema, applied once, in one transaction with the number it leads to.
///
/// A step that was released is never changed: the next one corrects it.
struct Migration {
    /// The schema's number afterwards, kept in the file's `user_version`.
    let version: Int
    let sql: String

    /// Every step, in order.
    static let all = [
        first, turns, survivors, spanEnds, refusals, waiting, payloads, attemptOutput, pins,
        verdicts, outputTail, profiles, bots, conversations, ownBots, questions,
        fewerPages, ownChannels, silences, graces, summaries, tokens, holds, words,
        expectations, fallbacks, laterWords,
    ]

    /// The schema this version of Belfry writes.
    static var newest: Int { all.last?.version ?? 0 }
}

/// The marks in the file's header, and the way from any older schema to the newest.
enum Schema {
    /// "BLFR": the file is a ledger.
    ///
    /// Kept in the header's `application_id`.
    static let application: UInt32 = 0x424C_4652

    /// Brings the file to the newest schema; a ledger that holds something is copied first, see
    /// ``copyPath(of:before:)``.
    ///
    /// - Throws: `.newer` when a newer Belfry wrote it, `.damaged` when it is not a ledger, `.full` when there is no
    ///   room for the copy; untouched then.
    static func migrate(
        _ database: Database, path: String, migrations: [Migration] = Migration.all
    ) throws(LedgerError) {
        let version = try refuseNewer(database, path: path, newest: migrations.last?.version ?? 0)
        do {
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if version == 0 && tables > 0 {
                throw LedgerError.damaged(path: path, detail: "it is a database of another program")
            }
            if version > 0, let newest = migrations.last?.version, newest > version {
                try LedgerFile.copy(database, of: path, to: copyPath(of: path, before: newest))
            }
            for migration in migrations where migration.version > version {
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

    /// Where the ledger at `path` is kept as it was before its schema became `version`:
    /// `ledger-before-2.sqlite` beside `ledger.sqlite`.
    static func copyPath(of path: String, before version: Int) -> String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: ".") else { return "\(path)-before-\(version)" }
        return "\(path[..<dot])-before-\(version)\(path[dot...])"
    }

    /// The file's schema.
    ///
    /// - Throws: `.newer` when this version does not know it.
    @discardableResult
    static func refuseNewer(
        _ database: Database, path: String, newest: Int = Migration.newest
    ) throws(LedgerError) -> Int {
        let version: Int
        do {
            version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        } catch {
            throw StoreFailure(error).error(path: path)
        }
        guard version > newest else { return version }
        throw .newer(path: path, found: "schema \(version), this one knows \(newest)")
    }
}
