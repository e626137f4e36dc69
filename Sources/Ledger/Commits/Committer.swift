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

    package func commits() -> AsyncStream<Set<Station>> { committer.feed.values() }

    package func observeCommits(_ notify: @escaping @Sendable (Set<Station>) -> Void) -> Observation {
        committer.feed.observe(notify)
    }

    package func observeOutbox(_ notify: @escaping @Sendable (OutboxNews) -> Void) -> Observation {
        committer.outbox.observe(notify)
    }

    package func observeUpcoming(_ notify: @escaping @Sendable (Set<String>) -> Void) -> Observation {
        committer.upcoming.observe(notify)
    }

    package var condition: StoreCondition { committer.health.condition }

    package func conditions() -> AsyncStream<StoreCondition> { committer.health.conditions() }

    /// How many transactions were committed so far: less than lists, when lists shared one.
    package var transactions: Int { committer.transactions }
}

/// Everything about commits that is the same for every store: lists in, transactions out.
///
/// Lists wait in a queue; the writer, on the store's own thread, commits together what waits, lets the
/// followers decide, answers, and publishes what was touched.
package final class Committer: Sendable {
    let followers = Followers()
    let feed = Broadcast<Set<Station>> { $0.formUnion($1) }
    /// Has observers alone: for them nothing is conflated.
    let outbox = Broadcast<OutboxNews>()
    let upcoming = Broadcast<Set<String>>()
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
            store, queue: queue, feed: feed, outbox: outbox, upcoming: upcoming, followers: followers,
            health: health, counter: counter)
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
        outbox.end()
        upcoming.end()
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

/// Lists on their way to the writer, in the order they came, and whether the ledger is closed.
///
/// Batching is natural: there is no timer and no size to wait for. A list that finds the writer idle starts
/// it; lists that find it busy are committed together afterwards.
final class CommitQueue: Sendable {
    private struct State {
        var waiting: [WaitingList] = []
        var isWriting = false
        var readers = 0
        var isClosed = false
        /// Why nothing can be written any more.
        var failure: LedgerError?
        var closer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// How many changes one transaction takes before it closes, the last list always whole.
    private static let mostChanges = 20_000

    /// Puts the list in line, or answers it at once when nothing is written any more.
    ///
    /// - Returns: true when the caller must start the writer.
    func add(_ list: WaitingList) -> Bool {
        let refusal: LedgerError?
        let mustStart: Bool
        (refusal, mustStart) = state.withLock { state in
            if let failure = state.failure { return (failure, false) }
            if state.isClosed { return (.closed, false) }
            state.waiting.append(list)
            defer { state.isWriting = true }
            return (nil, !state.isWriting)
        }
        if let refusal { list.answer.resume(returning: .failure(refusal)) }
        return mustStart
    }

    /// The next lists for the writer; empty when there are none, and the writer then counts as idle.
    func next() -> [WaitingList] {
        let (lists, closer) = state.withLock { state -> ([WaitingList], CheckedContinuation<Void, Never>?) in
            let lists = Self.nextLists(from: &state, room: Self.mostChanges)
            if !lists.isEmpty { return (lists, nil) }
            state.isWriting = false
            return ([], Self.closerIfIdle(&state))
        }
        closer?.resume()
        return lists
    }

    /// Lists that came while the transaction was being filled, and may still join its `changes`.
    func join(after changes: Int) -> [WaitingList] {
        state.withLock { Self.nextLists(from: &$0, room: Self.mostChanges - changes) }
    }

    /// Whether nobody waits for the writer.
    var isIdle: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Refuses everything from now on with `failure`, what waits included.
    func fail(_ failure: LedgerError) {
        let waiting = state.withLock { state in
            state.failure = failure
            defer { state.waiting = [] }
            return state.waiting
        }
        for list in waiting { list.answer.resume(returning: .failure(failure)) }
    }

    /// Counts a read that begins, unless the ledger is closed.
    func enter() throws(LedgerError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.readers += 1 }
            return state.isClosed
        }
        if isClosed { throw .closed }
    }

    /// Counts a read that ended.
    func leave() {
        let closer = state.withLock { state in
            state.readers -= 1
            return Self.closerIfIdle(&state)
        }
        closer?.resume()
    }

    /// Refuses lists and reads from now on: the ledger is closed.
    ///
    /// - Returns: false when it was closed before.
    func shut() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }

    /// Waits until the last list is written and the last read has ended.
    ///
    /// Called once, after ``shut()``.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isWriting || state.readers > 0 {
                    state.closer = continuation
                    return false
                }
                return true
            }
            if isIdle { continuation.resume() }
        }
    }

    private static func nextLists(from state: inout State, room: Int) -> [WaitingList] {
        var count = 0
        var changes = 0
        while count < state.waiting.count, changes < room {
            changes += max(1, state.waiting[count].count)
            count += 1
        }
        defer { state.waiting.removeFirst(count) }
        return Array(state.waiting.prefix(count))
    }

    private static func closerIfIdle(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard !state.isWriting, state.readers == 0 else { return nil }
        defer { state.closer = nil }
        return state.closer
    }
}
