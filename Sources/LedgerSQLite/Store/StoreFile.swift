import Glibc
import Ledger
import Synchronization

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
