import GRDB
import GRDBSQLite
import Glibc
package import Ledger
import Synchronization

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
    /// What is at `target` is replaced. Writers continue meanwhile.
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

    /// The channels that were made on the command line.
    ///
    /// - Throws: as ``check()``.
    package func channelEntries() throws(LedgerError) -> [ChannelEntry] {
        try work { database throws(LedgerError) in
            do throws(StoreFailure) {
                return try ChannelEntryRows.entries(in: database)
            } catch {
                throw error.error(path: path)
            }
        }
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

/// The ledger's file before SQLite opens it: locked for this process, created private, and checked.
final class StoreFile: Sendable {
    private let lock: Mutex<Int32?>

    /// Locks `path` by a file beside it, ending in `-lock`, and creates `path` itself, mode 0600, when absent.
    ///
    /// The lock ends with the process, however it ends; no child inherits it.
    /// - Throws: `.locked` when another ledger is open there, `.readOnly` or `.full` when the file can't be
    ///   made, `.damaged` when it is something else than a ledger.
    init(path: String) throws(LedgerError) {
        let descriptor = unsafe open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(errno, path: path) }
        lock = Mutex(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .locked(path: path) : Self.error(errno, path: path)
        }
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.error(errno, path: path) }
        // Closing a descriptor drops this process's locks on the file: only good before SQLite has opened it.
        defer { close(file) }
        try Self.refuseStranger(file, path: path)
    }

    deinit { release() }

    /// Refuses another program's file at `path`; before SQLite opens it.
    static func refuseStranger(at path: String) throws(LedgerError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error(errno, path: path) }
        defer { close(file) }
        try refuseStranger(file, path: path)
    }

    /// Releases the lock.
    ///
    /// Only when SQLite has closed the file.
    func release() {
        lock.withLock { descriptor in
            // A child that is about to exec may still share it: closing alone would leave it locked.
            if let descriptor {
                flock(descriptor, LOCK_UN)
                close(descriptor)
            }
            descriptor = nil
        }
    }

    /// Checks the first hundred bytes, before anything could be written to another program's file.
    ///
    /// - Source: sqlite.org/fileformat2.html, "The Database Header".
    private static func refuseStranger(_ file: Int32, path: String) throws(LedgerError) {
        var header = [UInt8](repeating: 0, count: 100)
        let count = unsafe pread(file, &header, header.count, 0)
        if count == 0 { return }
        guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .damaged(path: path, detail: "it is not a database")
        }
        // 18 and 19: written and read in WAL mode, as a ledger is from its first page on.
        let application = header[68..<72].reduce(0) { $0 << 8 | UInt32($1) }
        let isInWAL = header[18] == 2 && header[19] == 2
        guard application == Schema.application || (application == 0 && isInWAL) else {
            throw .damaged(path: path, detail: "it is a database of another program")
        }
    }

    static func error(_ code: Int32, path: String) -> LedgerError {
        switch code {
        case EACCES, EPERM, EROFS: .readOnly(path: path)
        case ENOSPC, EDQUOT: .full
        default: unsafe .storage(code: Int(code), detail: "\(path): \(String(cString: strerror(code)))")
        }
    }
}

/// An empty file beside the ledger, removed when the disk is full, so that the changes that end old work still fit.
struct Reserve {
    /// Room for some hundred such commits: the log is moved and restarted within it.
    static let bytes = 2 << 20

    private let path: String
    /// Whether it takes up its room.
    private(set) var isThere = false

    /// The reserve of the ledger at `path`; makes it.
    init(of path: String) {
        self.path = path + "-reserve"
        make()
    }

    /// Makes the file, when the disk has room for twice as much.
    ///
    /// Twice, so that the next commit does not remove it again.
    mutating func make() {
        guard !isThere else { return }
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return }
        if Int(status.st_blocks) * 512 >= Self.bytes {
            isThere = true
            return
        }
        var disk = statvfs()
        let hasRoom =
            unsafe fstatvfs(file, &disk) == 0 && disk.room >= UInt64(2 * Self.bytes)
        if hasRoom, posix_fallocate(file, 0, off_t(Self.bytes)) == 0 {
            isThere = true
        } else {
            unsafe unlink(path)
        }
    }

    /// Removes the file; false when there was none.
    mutating func free() -> Bool {
        guard isThere else { return false }
        isThere = false
        return unsafe unlink(path) == 0
    }
}

extension statvfs {
    /// How many bytes programs without privileges may still write.
    var room: UInt64 { UInt64(f_bavail) * UInt64(f_frsize) }
}
