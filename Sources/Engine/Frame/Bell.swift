import Synchronization
package import Timeline

/// Wakes one loop: when somebody rings, or when the wall clock shows a moment, whichever comes first.
///
/// Rings are conflated: any number of them before a wait end that wait once. One loop waits at a time.
package final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// One that nobody has rung.
    package init() {}

    /// Ends the wait under way, or the next one.
    package func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if waiter == nil { state.isRung = true }
            return waiter
        }
        waiter?.resume()
    }

    /// Waits for a ring, or until `clock` shows `moment` (nil: for a ring alone).
    ///
    /// May return before `moment` without a ring when the clock was set: look at the clock again.
    /// - Throws: `CancellationError` when the task is cancelled.
    package func wait(until moment: Moment?, on clock: any WallClock) async throws {
        if consumeRing() { return try Task.checkCancellation() }
        guard let moment else {
            await waitForRing()
            return try Task.checkCancellation()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForRing() }
            group.addTask { try await clock.sleep(until: moment) }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    /// Whether it was rung since the last wait, so that the next one ends at once.
    private func consumeRing() -> Bool {
        state.withLock { state in
            defer { state.isRung = false }
            return state.isRung
        }
    }

    private func waitForRing() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiter
                state.waiter = nil
                return waiter
            }
            waiter?.resume()
        }
    }
}

/// A flag that its owner and those who ring its bell share.
final class Flag: Sendable {
    private let flag: Atomic<Bool>

    init(_ value: Bool) {
        flag = Atomic(value)
    }

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set(_ value: Bool) { flag.store(value, ordering: .releasing) }
}

/// What came while its owner was busy, in order, taken all at once.
///
/// One commit for many events is what keeps the ledger's syncs few. A producer that awaits ``room()`` after
/// what it has put never gets further ahead than ``limit`` and that.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var producer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let limit: Int

    /// An empty one; left out, a producer may be 1,024 elements ahead.
    init(limit: Int = 1024) {
        self.limit = limit
    }

    func put(_ element: Element) { put([element]) }

    func put(_ elements: [Element]) {
        state.withLock { $0.waiting += elements }
    }

    func takeAll() -> [Element] {
        let (taken, producer) = state.withLock { state in
            defer {
                state.waiting = []
                state.producer = nil
            }
            return (state.waiting, state.producer)
        }
        producer?.resume()
        return taken
    }

    /// Waits until the owner has taken what waits, if that is too much; returns at once when cancelled.
    ///
    /// One producer at a time, which has notified the owner before.
    func room() async {
        if state.withLock({ $0.waiting.count < limit }) { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    if state.waiting.count < limit || Task.isCancelled { return true }
                    state.producer = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            let producer = state.withLock { state in
                defer { state.producer = nil }
                return state.producer
            }
            producer?.resume()
        }
    }
}

/// First in, first out.
///
/// - Complexity: O(1), amortised, but for ``prepend(_:)`` where nobody has left yet.
struct Fifo<Element> {
    private var elements: [Element] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func append(contentsOf more: some Sequence<Element>) {
        elements.append(contentsOf: more)
    }

    mutating func prepend(_ element: Element) {
        if start > 0 {
            start -= 1
            elements[start] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
