import Synchronization

/// A ledger whose commits, turns, feed and health are a ``Committer``'s: its store adds the rows and the reads.
package protocol CommittingLedger: Ledger {
    var committer: Committer { get }
}

extension CommittingLedger {
    @discardableResult
    package func commit(_ changes: [Change]) async throws(LedgerError) -> Commit {
        try await committer.commit(.changes(changes))
    }

    @discardableResult
    package func commit(_ turn: any Turn) async throws(LedgerError) -> Commit {
        try await committer.commit(.turn(turn))
    }

    package func follow(_ turn: any Turn & AnyObject) { committer.followers.add(turn) }

    package func unfollow(_ turn: any Turn & AnyObject) { committer.followers.remove(turn) }

    package func commits() -> AsyncStream<Set<Station>> { committer.feed.listen() }

    package var condition: StoreCondition { committer.health.condition }

    package func conditions() -> AsyncStream<StoreCondition> { committer.health.listen() }

    /// How many transactions were committed so far: less than lists, when lists shared one.
    package var transactions: Int { committer.transactions }
}

/// Everything about commits that is the same for every store: lists in, transactions out.
///
/// Lists wait in a queue; the writer, on the store's own thread, commits together what waits, lets the
/// followers decide, answers, and publishes what was touched.
package final class Committer: Sendable {
    let followers = Followers()
    let feed = CommitFeed()
    let health = StoreHealth()
    private let queue = CommitQueue()
    private let counter = TransactionCounter()
    private let onWriter: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let work: @Sendable () -> Void
    private let finish: @Sendable () -> Void

    /// Commits to `store`, which is used from now on only by the closures that `onWriter` runs.
    ///
    /// `onWriter` runs one closure after the other on the thread that may use `store`, and does not wait for
    /// them. `store` is ready to `begin`.
    package init(
        _ store: sending some Transaction,
        onWriter: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        if !store.hasReserve { health.note(.short) }
        let writer = Writer(
            store, queue: queue, feed: feed, followers: followers, health: health, counter: counter)
        self.onWriter = onWriter
        work = { writer.work() }
        finish = { writer.finish() }
    }

    /// How many transactions were committed so far: less than lists, when lists shared one.
    package var transactions: Int { counter.count.load(ordering: .relaxed) }

    func commit(_ changes: WaitingList.Work) async throws(LedgerError) -> Commit {
        let outcome = await withCheckedContinuation { answer in
            guard queue.add(WaitingList(work: changes, answer: answer)) else { return }
            onWriter(work)
        }
        return try outcome.get()
    }

    /// Runs a read, unless the ledger is closed; closing waits for it.
    package func read<Value>(
        _ body: () async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        try queue.enter()
        defer { queue.leave() }
        return try await body()
    }

    /// Refuses what comes from now on, ends what is under way, and lets the store finish.
    ///
    /// - Returns: false when that was done before; else the store may be closed, without a sync where
    ///   ``hasFailedSync`` says so.
    package func close() async -> Bool {
        guard queue.shut() else { return false }
        await queue.drain()
        feed.end()
        health.end()
        await withCheckedContinuation { done in
            onWriter { [finish] in
                finish()
                done.resume()
            }
        }
        return true
    }

    /// Whether a sync failed: then nothing is written any more, and the file must not be synced again.
    package var hasFailedSync: Bool {
        if case .refusing(.syncFailed) = health.condition { true } else { false }
    }
}

/// Counts transactions for readers on other threads.
final class TransactionCounter: Sendable {
    let count = Atomic<Int>(0)
}

/// The turns that decide in every transaction that appends events.
final class Followers: Sendable {
    private let turns = Mutex<[any Turn & AnyObject]>([])

    /// All of them, in the order they came.
    var all: [any Turn & AnyObject] { turns.withLock(\.self) }

    func add(_ turn: any Turn & AnyObject) {
        turns.withLock { $0.append(turn) }
    }

    func remove(_ turn: any Turn & AnyObject) {
        turns.withLock { $0.removeAll { $0 === turn } }
    }
}
