import Ledger

/// Work that shares a commit, and of which each piece is committed alone once a guard has refused the whole: somebody
/// moved one of its rows meanwhile.
///
/// The owner commits ``next`` until there is none, and reports each result.
struct SharedCommit<Work> {
    /// What is neither committed nor refused.
    private(set) var rest: ArraySlice<Work>
    private var isSplit = false

    init(_ work: some Sequence<Work>) {
        rest = ArraySlice(work)
    }

    /// What to commit next; nil: nothing is left.
    var next: [Work]? {
        guard let first = rest.first else { return nil }
        return isSplit ? [first] : Array(rest)
    }

    /// Whether ``next`` is one piece, which is given up when a guard refuses it.
    var isSingle: Bool { isSplit || rest.count == 1 }

    /// ``next`` is committed.
    mutating func committed() { rest = isSplit ? rest.dropFirst() : [] }

    /// A guard refused ``next``: if it is one piece it is given up, else each piece is committed alone from now on.
    mutating func refused() {
        if isSingle { rest = rest.dropFirst() }
        isSplit = true
    }
}

extension Ledger {
    /// Commits the changes.
    ///
    /// - Returns: false when a guard refuses them: the row of one was moved meanwhile.
    func commitUnlessFenced(_ changes: [Change]) async throws(LedgerError) -> Bool {
        do throws(LedgerError) {
            try await commit(changes)
            return true
        } catch {
            guard case .fenced = error else { throw error }
            return false
        }
    }
}
