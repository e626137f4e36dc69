import Synchronization

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
