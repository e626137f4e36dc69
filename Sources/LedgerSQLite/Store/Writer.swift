import GRDB
import GRDBSQLite
import Ledger
import Synchronization

/// The one who writes: takes lists from the queue, commits them together, and answers.
// SAFE: unchecked, because everything but the counter is touched only on the writer connection's serial
// queue, where GRDB runs `prepare`, `work` and `finish`.
final class Writer: @unchecked Sendable {
    private let path: String
    private let feed: CommitFeed
    private let followers: Followers
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

    init(path: String, feed: CommitFeed, followers: Followers) {
        self.path = path
        self.feed = feed
        self.followers = followers
    }

    /// Compiles every statement; once, before any work.
    func prepare(in database: Database) throws(StoreFailure) {
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
            let (batch, failure) = write(lists, in: database) { queue.join(after: $0) }
            if case .syncFailed = failure { giveUp(queue, failure) }
            batch.answer()
            feed.publish(batch.touched)
            if failure == nil, let failure = log.look(after: database, isIdle: queue.isIdle) {
                giveUp(queue, failure.error(path: path))
            }
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
        if let failure { queue.fail(failure) }
    }

    /// One transaction of `lists` and of those that join while it is filled.
    private func write(
        _ lists: [WaitingList], in database: Database, joining: (Int) -> [WaitingList]
    ) -> (Batch, LedgerError?) {
        var batch = Batch()
        var lists = lists
        var turns: [any Turn] = []
        let before = lastEvent
        do {
            try begin(database)
            var isFirst = true
            while !lists.isEmpty {
                batch.add(lists)
                for list in lists {
                    if case .turn(let turn) = list.work { turns.append(turn) }
                    let (outcome, changes) = try apply(list.work, isFirst: isFirst, in: database)
                    batch.note(outcome, of: changes)
                    isFirst = false
                }
                lists = joining(batch.changes)
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
        if changes.count > 64 { commit.ordinals.reserveCapacity(changes.count) }
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
        do { try database.beginTransaction(.immediate) } catch { throw StoreFailure(error) }
    }

    private func commit(_ database: Database) throws(StoreFailure) {
        do { try database.commit() } catch { throw StoreFailure(error) }
        transactions.add(1, ordering: .relaxed)
    }
}
