import Ledger

extension LedgerError {
    /// Whether the same list may be taken later by the ledger as it is open now.
    ///
    /// Where it can't, the daemon ends and is started anew: a failed sync is never asked for again.
    var mayPass: Bool {
        switch self {
        case .fenced, .full, .readOnly, .locked, .damaged, .storage: true
        case .newer, .syncFailed, .closed: false
        }
    }
}
