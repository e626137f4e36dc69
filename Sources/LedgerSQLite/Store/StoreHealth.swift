import Ledger
import Synchronization

/// How the store is, and those who want to be told when that changes.
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
