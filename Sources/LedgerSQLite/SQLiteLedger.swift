import GRDB
package import Ledger
import Synchronization

/// The ledger in one SQLite file: one connection writes, a few others read and never wait for it.
///
/// Every commit is on the disk when it returns (WAL, `synchronous=FULL`).
package final class SQLiteLedger: Ledger {
    private let file: StoreFile
    private let pool: DatabasePool
    private let queue = CommitQueue()
    private let feed = CommitFeed()
    private let followers = Followers()
    private let health = StoreHealth()
    private let writer: Writer
    let path: String

    /// Opens the ledger at `path`, or makes a new one there; its folder must exist.
    ///
    /// Blocks for some milliseconds.
    ///
    /// - Throws: ``LedgerError/locked(path:)`` when another process has it open, ``LedgerError/newer(path:found:)``,
    ///   ``LedgerError/damaged(path:detail:)``, ``LedgerError/readOnly(path:)`` or ``LedgerError/full``; the file
    ///   is left as it was.
    package init(path: String) throws(LedgerError) {
        self.path = path
        file = try StoreFile(path: path)
        writer = Writer(path: path, feed: feed, followers: followers, health: health)
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            try pool.writeWithoutTransaction { [writer] database in
                try database.execute(
                    sql: """
                        PRAGMA synchronous = FULL;
                        PRAGMA wal_autocheckpoint = 0;
                        PRAGMA journal_size_limit = 67108864;
                        PRAGMA cache_size = -8192;
                        """)
                try Schema.migrate(database, path: path)
                try writer.prepare(in: database)
            }
        } catch let error as LedgerError {
            throw error
        } catch {
            throw StoreFailure(error).error(path: path)
        }
    }

    deinit {
        // Closing the file syncs it: a disk that failed to sync is not asked again.
        if case .refusing(.syncFailed) = health.condition { _ = unsafe Unmanaged.passRetained(pool) }
    }

    @discardableResult
    package func commit(_ changes: [Change]) async throws(LedgerError) -> Commit {
        try await commit(.changes(changes))
    }

    @discardableResult
    package func commit(_ turn: any Turn) async throws(LedgerError) -> Commit {
        try await commit(.turn(turn))
    }

    package func follow(_ turn: any Turn & AnyObject) { followers.add(turn) }

    package func unfollow(_ turn: any Turn & AnyObject) { followers.remove(turn) }

    private func commit(_ work: WaitingList.Work) async throws(LedgerError) -> Commit {
        let outcome = await withCheckedContinuation { answer in
            guard queue.add(WaitingList(work: work, answer: answer)) else { return }
            pool.asyncWriteWithoutTransaction { [writer, queue] database in
                writer.work(on: queue, in: database)
            }
        }
        return try outcome.get()
    }

    package func commits() -> AsyncStream<Set<Station>> { feed.listen() }

    package var condition: StoreCondition { health.condition }

    package func conditions() -> AsyncStream<StoreCondition> { health.listen() }

    package func close() async {
        guard queue.shut() else { return }
        await queue.drain()
        feed.end()
        health.end()
        let mayClose = await withCheckedContinuation { done in
            pool.asyncWriteWithoutTransaction { [writer] database in
                done.resume(returning: writer.finish(in: database))
            }
        }
        if mayClose {
            // A connection that can't be closed now is closed with the pool.
            try? pool.close()
        } else {
            // Left to the end of the process: the file is not synced once more on the way out.
            _ = unsafe Unmanaged.passRetained(pool)
        }
        file.release()
    }

    /// How many transactions were committed since it was opened: less than lists, when lists shared one.
    package var transactions: Int { writer.transactions.load(ordering: .relaxed) }

    /// Runs `body` on a reader, in a snapshot of its own.
    ///
    /// Not ended by the caller's cancellation.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws(StoreFailure) -> Value
    ) async throws(LedgerError) -> Value {
        try queue.enter()
        defer { queue.leave() }
        let outcome: Result<Value, StoreFailure> = await withCheckedContinuation { answer in
            pool.asyncRead { database in
                do {
                    answer.resume(returning: .success(try body(try database.get())))
                } catch {
                    answer.resume(returning: .failure(StoreFailure(error)))
                }
            }
        }
        do { return try outcome.get() } catch { throw error.error(path: path) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { database in
            database.add(function: TextSearch.function)
        }
        return configuration
    }
}
