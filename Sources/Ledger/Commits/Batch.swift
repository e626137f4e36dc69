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

/// The lists that share one transaction, and the outcome of each.
struct Batch {
    private(set) var lists: [WaitingList] = []
    private var outcomes: [Result<Commit, LedgerError>] = []
    /// The stations whose rows were touched by what was accepted.
    private(set) var touched: Set<Station> = []
    /// How many changes it holds.
    private(set) var changes = 0

    /// Adds lists that will share its fate.
    mutating func add(_ more: [WaitingList]) {
        lists += more
        for list in more { changes += list.count }
    }

    /// Notes the outcome of the next list, in the order they were added, and the changes it was.
    mutating func note(_ outcome: Result<Commit, LedgerError>, of changes: [Change]) {
        if case .success = outcome { touch(changes) }
        outcomes.append(outcome)
    }

    /// Notes that these changes were made, too.
    mutating func touch(_ changes: [Change]) {
        var last: Station?
        for change in changes {
            let station = change.station
            if let station, station != last { touched.insert(station) }
            last = station
        }
    }

    /// The transaction failed, and with it every list.
    mutating func fail(_ error: LedgerError) {
        outcomes = lists.map { _ in .failure(error) }
        touched = []
    }

    /// Answers everybody who waits.
    func answer() {
        for (list, outcome) in zip(lists, outcomes) { list.answer.resume(returning: outcome) }
    }
}
