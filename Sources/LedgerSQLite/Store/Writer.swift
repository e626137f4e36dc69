import GRDB
import GRDBSQLite
import Ledger
import Synchronization

/// The one who writes: takes lists from the queue, commits them together, and answers.
final class Writer: @unchecked Sendable {  // SAFE: all but the counter is touched on one serial queue only,
    // that of the writer's connection, where GRDB runs `prepare`, `work` and `finish`.
    private let path: String
    private let feed: CommitFeed
    private let followers: Followers
    private let health: StoreHealth
    private var reserve: Reserve?
    private var rows: StationRows?
    private var ordinals: Ordinals?
    private var savepoint: (open: Prepared, release: Prepared, undo: Prepared)?
    private var lastEvent: Int64 = 0
    private var log = LogUpkeep()
    private var hasGivenUp = false
    /// How often a follower is asked in one transaction; what is left then is for the next one.
    private static let mostRounds = 64
    /// Transactions committed so far.
    let transactions = Atomic<Int>(0)

    init(path: String, feed: CommitFeed, followers: Followers, health: StoreHealth) {
        self.path = path
        self.feed = feed
        self.followers = followers
        self.health = health
    }

    /// Compiles every statement, and makes the reserve; once, before any work.
    func prepare(in database: Database) throws(StoreFailure) {
        let reserve = Reserve(of: path)
        self.reserve = reserve
        if !reserve.isThere { health.note(.short) }
        let ordinals = try Ordinals(in: database)
        rows = try StationRows(in: database, ordinals: ordinals)
        self.ordinals = ordinals
        savepoint = (
            try Prepared("SAVEPOINT list", in: database), try Prepared("RELEASE list", in: database),
            try Prepared("ROLLBACK TO list", in: database)
        )
        lastEvent = try EventRows.last(in: database)
    }

    /// Writes until nothing waits any more.
    func work(on queue: CommitQueue, in database: Database) {
        while true {
            let lists = queue.next()
            if lists.isEmpty { return }
            lookForRoom()
            write(admit(lists), of: queue, in: database)
        }
    }

    /// Commits the lists; once more without new work when the disk turns out to be full.
    private func write(_ lists: [WaitingList], of queue: CommitQueue, in database: Database) {
        guard !lists.isEmpty else { return }
        let (batch, failure) = write(lists, in: database) { self.admit(queue.join(after: $0)) }
        if failure == .full, reserve?.giveUp() == true {
            health.note(.short)
            return write(admit(batch.lists), of: queue, in: database)
        }
        note(failure)
        if case .syncFailed = failure { giveUp(queue, failure) }
        batch.answer()
        feed.publish(batch.touched)
        let isShort = health.condition == .short
        if failure == nil,
            let failure = log.look(after: database, isIdle: queue.isIdle, isShort: isShort)
        {
            giveUp(queue, failure.error(path: path))
        }
    }

    // MARK: A full disk

    /// Makes the reserve again as soon as there is room: then the store is sound again.
    private func lookForRoom() {
        guard health.condition == .short else { return }
        reserve?.make()
        if reserve?.isThere == true { health.note(.sound) }
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
        case nil: health.note(reserve?.isThere == true ? .sound : .short)
        case .full?: health.note(.short)
        case let failure?: health.note(.refusing(failure))
        }
    }

    /// Lets the statements go, so that the connection can be closed.
    ///
    /// - Returns: false when closing, which syncs, would ask a disk again that failed to sync.
    func finish(in database: Database) -> Bool {
        rows = nil
        ordinals = nil
        savepoint = nil
        if hasGivenUp { return false }
        LogUpkeep.truncate(database)
        return true
    }

    /// A sync failed: what is on the disk is not known, and asking again would prove nothing.
    private func giveUp(_ queue: CommitQueue, _ failure: LedgerError?) {
        hasGivenUp = true
        note(failure)
        if let failure { queue.fail(failure) }
    }

    /// One transaction of `lists` and of those that join while it is filled.
    private func write(
        _ lists: [WaitingList], in database: Database, joining: (Int) -> [WaitingList]
    ) -> (Batch, LedgerError?) {
        var batch = Batch()
        // Before anything can fail: whoever waits is answered in any case.
        batch.add(lists)
        var lists = lists
        var turns: [any Turn] = []
        let before = lastEvent
        do {
            try begin(database)
            var isFirst = true
            while !lists.isEmpty {
                for list in lists {
                    if case .turn(let turn) = list.work { turns.append(turn) }
                    let (outcome, changes) = try apply(list.work, isFirst: isFirst, in: database)
                    batch.note(outcome, of: changes)
                    isFirst = false
                }
                lists = joining(batch.changes)
                batch.add(lists)
            }
            if lastEvent > before {
                for turn in followers.all {
                    turns.append(turn)
                    try follow(turn, in: database, &batch)
                }
            }
            try commit(database)
            ordinals?.keep()
            for turn in turns { turn.settle(true) }
            return (batch, nil)
        } catch {
            // Some failures end the transaction by themselves; then there is nothing to roll back.
            try? database.rollback()
            lastEvent = before
            ordinals?.undo(to: 0)
            for turn in turns { turn.settle(false) }
            let error = error.error(path: path)
            batch.fail(error)
            return (batch, error)
        }
    }

    /// What a caller or a turn of his wants; a turn whose list is refused is told at once.
    private func apply(
        _ work: WaitingList.Work, isFirst: Bool, in database: Database
    ) throws(StoreFailure) -> (Result<Commit, LedgerError>, [Change]) {
        switch work {
        case .changes(let changes):
            return (try apply(changes, isFirst: isFirst, in: database), changes)
        case .turn(let turn):
            let changes: [Change]
            do throws(LedgerError) {
                changes = try turn.decide(by: TurnReader(database: database, path: path))
            } catch {
                turn.settle(false)
                return (.failure(error), [])
            }
            // What it wants is known only now.
            if health.condition == .short, changes.contains(where: \.takesOnWork) {
                turn.settle(false)
                return (.failure(.full), [])
            }
            let outcome = try apply(changes, isFirst: isFirst, in: database)
            if case .failure = outcome { turn.settle(false) }
            return (outcome, changes)
        }
    }

    /// Lets a follower decide until it has nothing more to say.
    private func follow(_ turn: any Turn, in database: Database, _ batch: inout Batch) throws(StoreFailure) {
        for _ in 0..<Self.mostRounds {
            let outcome = try apply(.turn(turn), isFirst: false, in: database)
            guard case .success = outcome.0, !outcome.1.isEmpty else { return }
            batch.touch(outcome.1)
        }
    }

    /// One list, whole or not at all.
    ///
    /// The first of a transaction needs no savepoint: when it is refused, the transaction begins anew.
    private func apply(
        _ changes: [Change], isFirst: Bool, in database: Database
    ) throws(StoreFailure) -> Result<Commit, LedgerError> {
        guard let rows, let savepoint, let ordinals else { return .failure(.closed) }
        var commit = Commit(lastEvent: lastEvent)
        let given = ordinals.given
        if changes.count > 64 {
            commit.inserted.reserveCapacity(changes.count)
            ordinals.expect(changes.count)
        }
        if !isFirst { try savepoint.open.run() }
        var index = 0
        do {
            while index < changes.count {
                try rows.apply(changes[index], to: &commit)
                index += 1
            }
        } catch {
            guard error.concernsOneList else { throw error }
            ordinals.undo(to: given)
            if isFirst {
                try? database.rollback()
                try begin(database)
            } else {
                try savepoint.undo.run()
                try savepoint.release.run()
            }
            return .failure(refusal(error, of: changes[index], at: index))
        }
        if !isFirst { try savepoint.release.run() }
        lastEvent = commit.lastEvent
        return .success(commit)
    }

    private func refusal(_ failure: StoreFailure, of change: Change, at index: Int) -> LedgerError {
        if case .fenced = failure { return .fenced(index: index, change: change.label) }
        if failure.isConstraint { return .fenced(index: index, change: change.label) }
        return failure.error(path: path)
    }

    private func begin(_ database: Database) throws(StoreFailure) {
        do { try database.beginTransaction(.immediate) } catch { throw failure(error, database) }
    }

    private func commit(_ database: Database) throws(StoreFailure) {
        do { try database.commit() } catch { throw failure(error, database) }
        transactions.add(1, ordering: .relaxed)
    }

    /// The corresponding C function is `sqlite3_system_errno`.
    private func failure(_ error: any Error, _ database: Database) -> StoreFailure {
        StoreFailure(error, system: unsafe sqlite3_system_errno(database.sqliteConnection))
    }
}
