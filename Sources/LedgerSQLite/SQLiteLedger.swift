import GRDB
import Host
package import Ledger
import Synchronization

/// The ledger in one SQLite file: one connection writes, a few others read and never wait for it.
///
/// Every commit is on the disk when it returns (WAL, `synchronous=FULL`).
package final class SQLiteLedger: CommittingLedger {
    private let file: StoreFile
    private let pool: DatabasePool
    package let committer: Committer
    /// Reads under way.
    private let busyReaders = Atomic<Int>(0)
    let path: String
    /// What searches may not find yet.
    let words = WordNews()

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
        do {
            let words = words
            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            let transaction = try pool.writeWithoutTransaction { database in
                try database.execute(
                    sql: """
                        PRAGMA synchronous = FULL;
                        PRAGMA wal_autocheckpoint = 0;
                        PRAGMA journal_size_limit = 67108864;
                        PRAGMA cache_size = -8192;
                        """)
                try Schema.migrate(database, path: path)
                return try SQLiteTransaction(path: path, words: words, in: database)
            }
            // A thread of our own enters the connection's queue: whoever commits wakes that one thread, and nobody starts
            // or looks after others.
            let thread = try SerialThread(named: "ledger")
            committer = Committer(transaction) { work in
                thread.run { pool.writeWithoutTransaction { _ in work() } }
            }
            self.pool = pool
        } catch let error as LedgerError {
            throw error
        } catch {
            throw StoreFailure(error).error(path: path)
        }
    }

    deinit {
        // Closing the file syncs it: a disk that failed to sync is not asked again.
        if committer.hasFailedSync { _ = unsafe Unmanaged.passRetained(pool) }
    }

    package func close() async {
        guard await committer.close() else { return }
        if committer.hasFailedSync {
            // Left to the end of the process: the file is not synced once more on the way out.
            _ = unsafe Unmanaged.passRetained(pool)
        } else {
            // A connection that can't be closed now is closed with the pool.
            try? pool.close()
        }
        file.release()
    }

    /// Runs `body` on a reader, in a snapshot of its own.
    ///
    /// Not ended by the caller's cancellation.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws(StoreFailure) -> Value
    ) async throws(LedgerError) -> Value {
        try await read(inPlace: false, body)
    }

    /// The same for a few rows found by an index: on the caller's own thread while a reader is free, and each statement
    /// in a snapshot of its own.
    ///
    /// For reads between an event and its delivery: the way to a reader's thread and back costs more than they do.
    func readInPlace<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws(StoreFailure) -> Value
    ) async throws(LedgerError) -> Value {
        try await read(inPlace: true, body)
    }

    private func read<Value: Sendable>(
        inPlace: Bool, _ body: @escaping @Sendable (Database) throws(StoreFailure) -> Value
    ) async throws(LedgerError) -> Value {
        let outcome: Result<Value, StoreFailure> = try await committer.read { () throws(LedgerError) in
            let readers = busyReaders.add(1, ordering: .relaxed).newValue
            defer { busyReaders.subtract(1, ordering: .relaxed) }
            // Every reader is counted before it is taken, so that nobody waits for one here.
            if inPlace, readers <= Self.readers { return here(body) }
            return await withCheckedContinuation { answer in
                pool.asyncRead { database in
                    do {
                        answer.resume(returning: .success(try body(try database.get())))
                    } catch {
                        answer.resume(returning: .failure(StoreFailure(error)))
                    }
                }
            }
        }
        do { return try outcome.get() } catch { throw error.error(path: path) }
    }

    private func here<Value: Sendable>(
        _ body: (Database) throws(StoreFailure) -> Value
    ) -> Result<Value, StoreFailure> {
        do {
            return .success(try pool.unsafeRead { database in try body(database) })
        } catch {
            return .failure(StoreFailure(error))
        }
    }

    /// How many connections read.
    private static let readers = 3

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = readers
        configuration.prepareDatabase { database in
            database.add(function: TextSearch.function)
        }
        return configuration
    }
}
