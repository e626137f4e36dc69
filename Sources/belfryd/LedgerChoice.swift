import Ledger
import LedgerSQLite

/// Which store keeps the ledger: the one place of the daemon that opens it.
enum LedgerChoice {
    /// A file, kept by SQLite.
    case sqlite(path: String)

    /// The ledger of the daemon with this state folder.
    init(state: String) { self = .sqlite(path: state + "/ledger.sqlite") }

    /// The file that is watched, copied and restored.
    var path: String {
        switch self {
        case .sqlite(let path): path
        }
    }

    /// Opens the ledger, or makes a new one.
    ///
    /// - Throws: what keeps the store from being opened; it is left as it was.
    func open() throws(LedgerError) -> any Ledger {
        switch self {
        case .sqlite(let path): try SQLiteLedger(path: path)
        }
    }
}
