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
    private var rows: StationRows?
    private var ordinals: Ordinals?
    private var savepoint: (open: Prepared, release: Prepared, undo: Prepared)?
    private var lastEvent: Int64 = 0
    private var log = LogUpkeep()
    private var hasGivenUp = false
    /// Transactions committed so far.
    let transactions = Atomic<Int>(0)

    init(path: String, feed: CommitFeed) {
        self.path = path
        self.feed = feed
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
        let before = lastEvent
        do {
            try begin(database)
            var isFirst = true
            while !lists.isEmpty {
                batch.add(lists)
                for list in lists {
                    batch.note(try apply(list.changes, isFirst: isFirst, in: database))
                    isFirst = false
                }
                lists = joining(batch.changes)
            }
            try commit(database)
            ordinals?.keep()
            return (batch, nil)
        } catch {
            // Some failures end the transaction by themselves; then there is nothing to roll back.
            try? database.rollback()
            lastEvent = before
            ordinals?.undo(to: 0)
            let error = error.error(path: path)
            batch.fail(error)
            return (batch, error)
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
