import Ledger
import Performing

/// What the keeper of runs could not record or decide because the ledger could not be written or read.
///
/// It is tried again before anything else: steps of one run follow each other, and none may pass one that is owed.
struct OwedWork {
    /// Steps to commit.
    private(set) var steps: [RunStep] = []
    /// Ends of attempts whose next step could not be decided.
    private(set) var ends: [(key: RunKey, end: AttemptEnd)] = []
    /// Whether the ledger failed and has not taken everything since.
    private(set) var isTroubled = false
    private var isLogged = false
    /// The ledger's error that only a restart can clear.
    private(set) var fatal: LedgerError?

    var isEmpty: Bool { steps.isEmpty && ends.isEmpty }

    mutating func add(_ more: some Sequence<RunStep>) { steps += more }

    mutating func add(_ end: AttemptEnd, of key: RunKey) { ends.append((key, end)) }

    mutating func takeSteps() -> [RunStep] {
        defer { steps = [] }
        return steps
    }

    mutating func takeEnds() -> [(key: RunKey, end: AttemptEnd)] {
        defer { ends = [] }
        return ends
    }

    /// The ledger failed.
    ///
    /// - Returns: whether to log it; false while the same trouble lasts.
    mutating func note(_ error: LedgerError) -> Bool {
        defer { isLogged = true }
        isTroubled = true
        if !error.mayPass { fatal = error }
        return !isLogged
    }

    /// Nothing is owed to the ledger any more.
    mutating func settled() { if steps.isEmpty { isTroubled = false } }

    /// A turn ended: the next trouble is logged again if there was none in it.
    mutating func turnEnded() { if !isTroubled { isLogged = false } }
}
