import GRDB
import GRDBSQLite
import Glibc
import Ledger
import Tracking

/// How a run's state is stored: a small number, so that "has not ended" is one comparison an index can use.
///
/// The numbers are the file format; none may change its meaning.
///
/// The ends begin at 20: `state < 20` is "has not ended" in the schema and in every query.
enum StoredState {
    /// One bit for each of `states`, at the place of its number.
    static func mask(of states: Set<RunState>) -> Int64 {
        states.reduce(0) { $0 | 1 << code(of: $1) }
    }

    static func code(of state: RunState) -> Int64 {
        switch state {
        case .scheduled: 0
        case .queued: 1
        case .starting: 2
        case .running: 3
        case .blocked: 4
        case .paused: 5
        case .stalled: 6
        case .completed: 20
        case .failed: 21
        case .canceled: 22
        case .timedOut: 23
        case .lost: 24
        case .skipped: 25
        case .missed: 26
        }
    }

    static func state(of code: Int64) throws(StoreFailure) -> RunState {
        switch code {
        case 0: return .scheduled
        case 1: return .queued
        case 2: return .starting
        case 3: return .running
        case 4: return .blocked
        case 5: return .paused
        case 6: return .stalled
        case 20: return .completed
        case 21: return .failed
        case 22: return .canceled
        case 23: return .timedOut
        case 24: return .lost
        case 25: return .skipped
        case 26: return .missed
        default: throw .unreadable("\(code) is no state of a run")
        }
    }
}

/// Values that are kept as JSON because nothing asks for their parts.
enum JSONText {
    /// Where a run is, which is written at each of its ends.
    static func encode(_ live: LiveState) throws(StoreFailure) -> String {
        var writer = JSONWriter()
        do { try live.write(to: &writer) } catch {
            throw .unreadable("a live state can't be written: \(error)")
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func encode(_ value: some Encodable) throws(StoreFailure) -> String {
        do {
            return String(decoding: try JSON.encode(value, sorted: true), as: UTF8.self)
        } catch {
            throw .unreadable("a \(type(of: value)) can't be written: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ text: String, as _: Value.Type = Value.self) throws(StoreFailure)
        -> Value
    {
        do {
            return try JSON.decode(from: text.utf8)
        } catch {
            throw .unreadable("a stored \(Value.self) can't be read: \(error)")
        }
    }
}

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
