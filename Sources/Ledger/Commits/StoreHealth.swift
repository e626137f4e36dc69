import Synchronization

/// The state of the store between the commits.
package enum StoreCondition: Hashable, Sendable {
    /// It accepts everything. Becomes any other.
    case sound
    /// The disk is full, and the reserve is freed: new work is refused, changes that end old work are not.
    /// Becomes `.sound` when the space could be reserved again.
    case short
    /// The last commit failed for this reason. Becomes `.sound` by the next one that does not.
    case refusing(LedgerError)
}

/// The store's condition, published when it changes.
final class StoreHealth: Sendable {
    private struct State {
        var condition = StoreCondition.sound
        var listeners: [UInt64: AsyncStream<StoreCondition>.Continuation] = [:]
        var lastID: UInt64 = 0
        var isEnded = false
    }

    private let state = Mutex(State())

    var condition: StoreCondition { state.withLock(\.condition) }

    func note(_ condition: StoreCondition) {
        let listeners = state.withLock { state in
            guard state.condition != condition else { return [AsyncStream<StoreCondition>.Continuation]() }
            state.condition = condition
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(condition) }
    }

    /// The condition at once, then each change; a slow listener sees the newest.
    func listen() -> AsyncStream<StoreCondition> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreCondition.self, bufferingPolicy: .bufferingNewest(1))
        let (id, condition) = state.withLock { state -> (UInt64?, StoreCondition) in
            guard !state.isEnded else { return (nil, state.condition) }
            state.lastID += 1
            state.listeners[state.lastID] = continuation
            return (state.lastID, state.condition)
        }
        continuation.yield(condition)
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    func end() {
        let listeners = state.withLock { state in
            state.isEnded = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
