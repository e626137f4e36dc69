/// Why the ledger refused a list, a read or to be opened.
package enum LedgerError: Error, Hashable, Sendable {
    /// The guard of change `index` failed: the row is not what the caller expected.
    case fenced(index: Int, change: String)
    /// The disk is full; nothing was written.
    case full
    /// The store can't be written: its file or file system is read-only, or not ours.
    case readOnly(path: String)
    /// Another process holds the store.
    case locked(path: String)
    /// The store was written by a newer Belfry.
    case newer(path: String, found: String)
    /// The store's file is not a ledger, or is damaged.
    case damaged(path: String, detail: String)
    /// A sync to the disk failed. What was committed before is safe; the store must be opened again.
    case syncFailed(detail: String)
    /// The ledger was closed.
    case closed
    /// Any other failure of the store; `code` is its own number.
    case storage(code: Int, detail: String)
}

extension LedgerError: CustomStringConvertible {
    /// One sentence, with the fix where there is one.
    package var description: String {
        switch self {
        case .fenced(let index, let change):
            "change \(index) (\(change)) was refused: the row has moved on"
        case .full:
            "the disk is full; free some space, nothing was written"
        case .readOnly(let path):
            "the ledger \(path) can't be written; check its owner and that its file system is not read-only"
        case .locked(let path):
            "the ledger \(path) is held by another process; stop it first"
        case .newer(let path, let found):
            "the ledger \(path) was written by a newer Belfry (\(found)); upgrade, or use another state folder"
        case .damaged(let path, let detail):
            "the ledger \(path) is damaged (\(detail)); move it away and restore a backup"
        case .syncFailed(let detail):
            "a sync of the ledger to the disk failed (\(detail)); check the disk, then start again"
        case .closed:
            "the ledger is closed"
        case .storage(let code, let detail):
            "the ledger's store failed with code \(code): \(detail)"
        }
    }
}
