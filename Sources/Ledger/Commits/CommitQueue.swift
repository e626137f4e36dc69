import Synchronization

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
            let lists = Self.take(from: &state, room: Self.mostChanges)
            if !lists.isEmpty { return (lists, nil) }
            state.isWriting = false
            return ([], Self.closerIfIdle(&state))
        }
        closer?.resume()
        return lists
    }

    /// Lists that came while the transaction was being filled, and may still join its `changes`.
    func join(after changes: Int) -> [WaitingList] {
        state.withLock { Self.take(from: &$0, room: Self.mostChanges - changes) }
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

    private static func take(from state: inout State, room: Int) -> [WaitingList] {
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
