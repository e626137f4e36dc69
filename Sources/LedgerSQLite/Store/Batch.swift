import Ledger

/// The lists that share one transaction, and what became of each.
struct Batch {
    private(set) var lists: [WaitingList] = []
    private var outcomes: [Result<Commit, LedgerError>] = []
    /// The stations whose rows were touched by what was accepted.
    private(set) var touched: Set<Station> = []
    /// How many changes it holds.
    private(set) var changes = 0

    /// Takes lists in that will share its fate.
    mutating func add(_ more: [WaitingList]) {
        lists += more
        for list in more { changes += list.count }
    }

    /// What became of the next list, in the order they were added, and the changes it was.
    mutating func note(_ outcome: Result<Commit, LedgerError>, of changes: [Change]) {
        if case .success = outcome { touch(changes) }
        outcomes.append(outcome)
    }

    /// These changes were made, too.
    mutating func touch(_ changes: [Change]) {
        var last: Station?
        for change in changes {
            let station = change.station
            if let station, station != last { touched.insert(station) }
            last = station
        }
    }

    /// The transaction is lost, and with it every list.
    mutating func fail(_ error: LedgerError) {
        outcomes = lists.map { _ in .failure(error) }
        touched = []
    }

    /// Tells everybody who waits.
    func answer() {
        for (list, outcome) in zip(lists, outcomes) { list.answer.resume(returning: outcome) }
    }
}
