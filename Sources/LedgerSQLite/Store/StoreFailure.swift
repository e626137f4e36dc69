import GRDB
import GRDBSQLite
import Glibc
import Ledger

/// What can go wrong in SQLite, before it is a `LedgerError`.
enum StoreFailure: Error {
    /// A guard failed: the list it belongs to is refused.
    case fenced
    /// SQLite refused; `code` is the extended result code, `system` the errno behind it or 0.
    case sqlite(code: Int32, system: Int32, message: String)
    /// A stored value is none that this version knows.
    case unreadable(String)

    /// What GRDB threw; `system` is the errno behind it, where the connection still knows it.
    init(_ error: any Error, system: Int32 = 0) {
        switch error {
        case let failure as StoreFailure: self = failure
        case let error as DatabaseError:
            self = .sqlite(
                code: error.extendedResultCode.rawValue, system: system,
                message: error.message ?? "no message")
        default: self = .sqlite(code: SQLITE_ERROR, system: 0, message: "\(error)")
        }
    }

    /// Whether only the list that met it is refused, and those that share its transaction continue.
    var concernsOneList: Bool {
        switch self {
        case .fenced, .unreadable: true
        case .sqlite(let code, _, _): code & 0xFF == SQLITE_CONSTRAINT || code & 0xFF == SQLITE_TOOBIG
        }
    }

    /// A row that is there already, or the row it needs is not: a guard the schema keeps.
    var isConstraint: Bool {
        if case .sqlite(let code, _, _) = self { return code & 0xFF == SQLITE_CONSTRAINT }
        return false
    }

    /// A sync failed: it is not known what is on the disk, and trying again proves nothing.
    var isSyncFailure: Bool {
        guard case .sqlite(let code, _, _) = self else { return false }
        return code == DatabaseError.SQLITE_IOERR_FSYNC.rawValue
            || code == DatabaseError.SQLITE_IOERR_DIR_FSYNC.rawValue
    }

    /// This failure as the ledger's error, of the store at `path`.
    ///
    /// - Source: the list of result codes, sqlite.org/rescode.html.
    func error(path: String) -> LedgerError {
        switch self {
        case .fenced: return .fenced(index: 0, change: "")
        case .unreadable(let detail): return .damaged(path: path, detail: detail)
        case .sqlite(let code, let system, let message):
            if isSyncFailure { return .syncFailed(detail: message) }
            if system == ENOSPC || system == EDQUOT { return .full }
            // The index of the log could not be enlarged: it is made of plain files on the same disk.
            if code == DatabaseError.SQLITE_IOERR_SHMSIZE.rawValue { return .full }
            switch code & 0xFF {
            case SQLITE_FULL: return .full
            case SQLITE_READONLY, SQLITE_PERM: return .readOnly(path: path)
            case SQLITE_CANTOPEN where [EACCES, EPERM, EROFS].contains(system): return .readOnly(path: path)
            case SQLITE_BUSY, SQLITE_LOCKED: return .locked(path: path)
            case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged(path: path, detail: message)
            case SQLITE_MISUSE where message.contains("closed"): return .closed
            default: return .storage(code: Int(code), detail: message)
            }
        }
    }
}
