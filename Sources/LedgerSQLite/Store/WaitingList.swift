import Ledger

/// A list of changes that waits to be committed, and who waits for it.
struct WaitingList: Sendable {
    /// What is to be committed.
    enum Work: Sendable {
        case changes([Change])
        /// Decided when its transaction is open.
        case turn(any Turn)
    }

    let work: Work
    let answer: CheckedContinuation<Result<Commit, LedgerError>, Never>

    /// How many changes it has, as far as that is known.
    var count: Int {
        switch work {
        case .changes(let changes): changes.count
        case .turn: 1
        }
    }
}
