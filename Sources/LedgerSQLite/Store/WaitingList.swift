import Ledger

/// A list of changes that waits to be committed, and who waits for it.
struct WaitingList: Sendable {
    let changes: [Change]
    let answer: CheckedContinuation<Result<Commit, LedgerError>, Never>
}
