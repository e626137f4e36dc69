import Synchronization

/// Takes lists from the queue, commits them together, and answers those who wait.
// SAFE: `store` and `hasGivenUp` are touched by `work` and `finish` only, which run on the store's thread; the rest is
// constant and locks itself.
final class Writer<Store: Transaction>: @unchecked Sendable {
    private let store: Store
    private let queue: CommitQueue
    private let feed: Broadcast<Set<Station>>
    private let outbox: Broadcast<OutboxNews>
    private let upcoming: Broadcast<Set<String>>
    private let followers: Followers
    private let health: StoreHealth
    private let counter: TransactionCounter
    private var hasGivenUp = false
    /// How often lists may still join a transaction after its followers have decided.
    private static var mostJoins: Int { 8 }

    /// How often a follower decides in one transaction; what is left then waits for the next one.
    private static var mostRounds: Int { 64 }

    init(
        _ store: Store, queue: CommitQueue, feed: Broadcast<Set<Station>>, outbox: Broadcast<OutboxNews>,
        upcoming: Broadcast<Set<String>>, followers: Followers, health: StoreHealth,
        counter: TransactionCounter
    ) {
        self.store = store
        self.queue = queue
        self.feed = feed
        self.outbox = outbox
        self.upcoming = upcoming
        self.followers = followers
        self.health = health
        self.counter = counter
    }

    /// Writes until nothing waits any more.
    func work() {
        while true {
            let lists = queue.next()
            if lists.isEmpty { return }
            refillReserve()
            write(admit(lists))
        }
    }

    /// Lets the store prepare to be closed.
    func finish() {
        store.finish(isSynced: !hasGivenUp)
    }

    /// Commits the lists; once more without new work when the disk turns out to be full.
    private func write(_ lists: [WaitingList]) {
        guard !lists.isEmpty else { return }
        let (batch, failure) = transact(lists)
        if failure == .full, store.freeReserve() {
            health.note(.short)
            return write(admit(batch.lists))
        }
        note(failure)
        if case .syncFailed = failure { giveUp(failure) }
        if !batch.outbox.isEmpty { outbox.publish(batch.outbox) }
        // First: whoever listens from the answer on hears of later commits alone.
        if !batch.touched.isEmpty { feed.publish(batch.touched) }
        batch.answer()
        guard failure == nil else { return }
        do throws(LedgerError) {
            try store.maintain(isIdle: queue.isIdle, isShort: health.condition == .short)
        } catch {
            giveUp(error)
        }
    }

    // MARK: A full disk

    /// Reserves space again as soon as there is room: then the store accepts new work again.
    private func refillReserve() {
        guard health.condition == .short else { return }
        store.makeReserve()
        if store.hasReserve { health.note(.sound) }
    }

    /// The lists that may be written; while the disk is full, those that take on work are refused.
    private func admit(_ lists: [WaitingList]) -> [WaitingList] {
        guard health.condition == .short else { return lists }
        var admitted: [WaitingList] = []
        for list in lists {
            if case .changes(let changes) = list.work, changes.contains(where: \.takesOnWork) {
                list.answer.resume(returning: .failure(.full))
            } else {
                admitted.append(list)
            }
        }
        return admitted
    }

    private func note(_ failure: LedgerError?) {
        switch failure {
        case nil: health.note(store.hasReserve ? .sound : .short)
        case .full?: health.note(.short)
        case let failure?: health.note(.refusing(failure))
        }
    }

    /// A sync failed: what is on the disk is not known, and trying again would prove nothing.
    private func giveUp(_ failure: LedgerError?) {
        hasGivenUp = true
        note(failure)
        if let failure { queue.fail(failure) }
    }

    // MARK: One transaction

    /// One transaction of `lists` and of those that join while it is filled.
    private func transact(_ lists: [WaitingList]) -> (Batch, LedgerError?) {
        var batch = Batch()
        // Before anything can fail: whoever waits is answered in any case.
        batch.add(lists)
        var lists = lists
        var turns: [any Turn] = []
        var following: [any Turn]?
        do throws(LedgerError) {
            try store.begin()
            let before = store.lastEvent
            var joins = 0
            while !lists.isEmpty {
                try apply(&lists, &batch, &turns)
                if store.lastEvent > before {
                    if following == nil {
                        following = followers.all
                        turns += following ?? []
                    }
                    for turn in following ?? [] { try follow(turn, &batch) }
                }
                joins += 1
                lists = joins <= Self.mostJoins ? join(&batch) : []
            }
            if !batch.outbox.added.isEmpty { upcoming.publish(Set(batch.outbox.added.map(\.channel))) }
            try store.commit()
            counter.count.add(1, ordering: .relaxed)
            for turn in turns { turn.settle(true) }
            return (batch, nil)
        } catch {
            store.rollback()
            for turn in turns { turn.settle(false) }
            batch.fail(error)
            return (batch, error)
        }
    }

    /// Applies `lists` and those that join meanwhile; what comes back of `lists` is empty.
    private func apply(
        _ lists: inout [WaitingList], _ batch: inout Batch, _ turns: inout [any Turn]
    ) throws(LedgerError) {
        while !lists.isEmpty {
            for list in lists {
                if case .turn(let turn) = list.work { turns.append(turn) }
                let (outcome, changes) = try apply(list.work)
                batch.note(outcome, of: changes)
            }
            lists = join(&batch)
        }
    }

    /// The lists that came meanwhile, now part of the batch.
    private func join(_ batch: inout Batch) -> [WaitingList] {
        let lists = admit(queue.join(after: batch.changes))
        batch.add(lists)
        return lists
    }

    /// The outcome of a list or of a turn, and its changes; a turn whose changes are refused is settled at once.
    private func apply(
        _ work: WaitingList.Work
    ) throws(LedgerError) -> (Result<Commit, LedgerError>, [Change]) {
        switch work {
        case .changes(let changes):
            return (try apply(changes), changes)
        case .turn(let turn):
            let changes: [Change]
            do throws(LedgerError) {
                changes = try decide(turn)
            } catch {
                turn.settle(false)
                return (.failure(error), [])
            }
            // What it wants is known only now.
            if health.condition == .short, changes.contains(where: \.takesOnWork) {
                turn.settle(false)
                return (.failure(.full), [])
            }
            let outcome = try apply(changes)
            if case .failure = outcome { turn.settle(false) }
            return (outcome, changes)
        }
    }

    private func apply(_ changes: [Change]) throws(LedgerError) -> Result<Commit, LedgerError> {
        do throws(TransactionFailure) {
            return .success(try store.apply(changes))
        } catch {
            switch error {
            case .refused(let error): return .failure(error)
            case .lost(let error): throw error
            }
        }
    }

    /// Reads what the turn asks for, in two rounds at most, and lets it decide.
    private func decide(_ turn: any Turn) throws(LedgerError) -> [Change] {
        guard let opening = turn.opening() else { return [] }
        var input = TurnInput()
        input.isKnown = { turn.isKnown($0) }
        try store.read(opening, into: &input)
        let reads = turn.reads(by: input)
        if !reads.isEmpty { try store.read(reads, into: &input) }
        return try turn.decide(input)
    }

    private func isAtEnd(_ change: Change) -> Bool {
        if case .moveConsumer(_, _, to: let seq) = change { seq == store.lastEvent } else { false }
    }

    /// Lets a follower decide until it has nothing more to do.
    private func follow(_ turn: any Turn, _ batch: inout Batch) throws(LedgerError) {
        for _ in 0..<Self.mostRounds {
            let (outcome, changes) = try apply(.turn(turn))
            guard case .success(let commit) = outcome, !changes.isEmpty else { return }
            batch.touch(changes, by: commit)
            // Its cursor is at the newest event: it would find nothing more.
            if changes.contains(where: isAtEnd) { return }
        }
    }
}

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
    /// What was done to the outbox.
    private(set) var outbox = OutboxNews()
    /// How many changes it holds.
    private(set) var changes = 0

    /// Adds lists that will share its fate.
    mutating func add(_ more: [WaitingList]) {
        lists += more
        for list in more { changes += list.count }
    }

    /// Notes the outcome of the next list, in the order they were added, and the changes it was.
    mutating func note(_ outcome: Result<Commit, LedgerError>, of changes: [Change]) {
        if case .success(let commit) = outcome { touch(changes, by: commit) }
        outcomes.append(outcome)
    }

    /// Notes that these changes were made, too.
    mutating func touch(_ changes: [Change], by commit: Commit) {
        var last: Station?
        for change in changes {
            let station = change.station
            if let station, station != last { touched.insert(station) }
            if change.mayAskForReply { touched.insert(.replies) }
            if change.movesOutbox { outbox.movesOthers = true }
            last = station
        }
        outbox.added += commit.entries
    }

    /// The transaction failed, and with it every list.
    mutating func fail(_ error: LedgerError) {
        outcomes = lists.map { _ in .failure(error) }
        touched = []
        outbox = OutboxNews()
    }

    /// Answers everybody who waits.
    func answer() {
        for (list, outcome) in zip(lists, outcomes) { list.answer.resume(returning: outcome) }
    }
}
