import GRDB
import GRDBSQLite
import Glibc
package import Ledger

/// A ledger's file, checked or copied from outside, also while a daemon writes to it.
package struct LedgerFile: Sendable {
    /// What a ledger holds, in numbers.
    package struct Summary: Hashable, Sendable {
        package var schema: Int
        package var jobs: Int
        package var runs: Int
        /// The newest event's number; 0 when there is none.
        package var lastEvent: Int64
    }

    package let path: String

    /// The file at `path`; opens nothing.
    package init(path: String) {
        self.path = path
    }

    /// Reads all of it.
    ///
    /// - Throws: ``LedgerError/damaged(path:detail:)`` when a page or a reference is broken,
    ///   ``LedgerError/newer(path:found:)``, or what keeps it from being opened.
    package func check() throws(LedgerError) -> Summary {
        try work { database throws(LedgerError) in
            do {
                let faults =
                    try String.fetchAll(database, sql: "PRAGMA integrity_check(1)").filter { $0 != "ok" }
                    + Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(1).map { "\($0)" }
                if let fault = faults.first { throw LedgerError.damaged(path: path, detail: fault) }
                func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
                // SQLite takes an empty file for an empty database.
                guard try count("PRAGMA user_version") > 0 else {
                    throw LedgerError.damaged(path: path, detail: "it is empty, or was not written by Belfry")
                }
                return Summary(
                    schema: try count("PRAGMA user_version"), jobs: try count("SELECT count(*) FROM job"),
                    runs: try count("SELECT count(*) FROM run"),
                    lastEvent: Int64(try count("SELECT max(seq) FROM event")))
            } catch let error as LedgerError {
                throw error
            } catch {
                throw StoreFailure(error).error(path: path)
            }
        }
    }

    /// Writes a copy of one moment to `target`, which appears there whole, synced, mode 0600.
    ///
    /// What is at `target` is replaced. Writers go on meanwhile.
    /// - Throws: as ``check()``; nothing is at `target` then that was not there before.
    package func copy(to target: String) throws(LedgerError) {
        try work { database throws(LedgerError) in
            try Self.copy(database, of: path, to: target)
        }
    }

    /// The same by a connection that is outside of any transaction.
    static func copy(_ database: Database, of path: String, to target: String) throws(LedgerError) {
        let draft = target + ".new"
        unsafe unlink(draft)
        // Made first, for its mode: SQLite accepts an empty file.
        let file = unsafe open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StoreFile.error(errno, path: draft) }
        defer { close(file) }
        do {
            try database.execute(sql: "VACUUM INTO ?", arguments: [draft])
            guard fsync(file) == 0 else { throw StoreFile.error(errno, path: draft) }
            guard unsafe rename(draft, target) == 0 else { throw StoreFile.error(errno, path: target) }
            try syncFolder(of: target)
        } catch {
            unsafe unlink(draft)
            if let error = error as? LedgerError { throw error }
            let system = unsafe sqlite3_system_errno(database.sqliteConnection)
            throw StoreFailure(error, system: system).error(path: path)
        }
    }

    private static func syncFolder(of path: String) throws(LedgerError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreFile.error(errno, path: folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreFile.error(errno, path: folder) }
    }

    private func work<Value>(
        _ body: (Database) throws(LedgerError) -> Value
    ) throws(LedgerError) -> Value {
        try StoreFile.refuseStranger(at: path)
        var configuration = Configuration()
        configuration.label = "ledger file"
        configuration.busyMode = .timeout(10)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let outcome: Result<Value, LedgerError> = queue.writeWithoutTransaction { database in
                do throws(LedgerError) {
                    try Schema.refuseNewer(database, path: path)
                    return .success(try body(database))
                } catch {
                    return .failure(error)
                }
            }
            try queue.close()
            return try outcome.get()
        } catch let error as LedgerError {
            throw error
        } catch {
            throw StoreFailure(error).error(path: path)
        }
    }
}
