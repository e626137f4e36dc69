import Synchronization

/// Publishes which stations were touched.
///
/// A slow listener gets those of many commits at once.
final class CommitFeed: Sendable {
    private struct State {
        var listeners: [WeakListener] = []
        var isEnded = false
    }

    private let state = Mutex(State())

    /// A stream of everything published from now on.
    func listen() -> AsyncStream<Set<Station>> {
        let listener = Listener()
        let isEnded = state.withLock { state in
            if !state.isEnded { state.listeners.append(WeakListener(listener: listener)) }
            return state.isEnded
        }
        if isEnded { listener.end() }
        return AsyncStream {
            await withTaskCancellationHandler {
                await listener.next()
            } onCancel: {
                listener.end()
            }
        }
    }

    func publish(_ stations: Set<Station>) {
        if stations.isEmpty { return }
        for listener in listeners() { listener.publish(stations) }
    }

    /// Ends every stream, after what was published before.
    func end() {
        state.withLock { $0.isEnded = true }
        for listener in listeners() { listener.end() }
    }

    private func listeners() -> [Listener] {
        state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            return state.listeners.compactMap(\.listener)
        }
    }
}

/// Held weakly: a stream that nobody iterates any more ends the listener with itself.
private struct WeakListener {
    weak let listener: Listener?
}

/// One stream's side: the stations it has not seen yet, or the reader that waits for them.
private final class Listener: Sendable {
    private struct State {
        var unseen: Set<Station> = []
        var isEnded = false
        var waiting: CheckedContinuation<Set<Station>?, Never>?
    }

    private let state = Mutex(State())

    func publish(_ stations: Set<Station>) {
        let waiting = state.withLock { state -> CheckedContinuation<Set<Station>?, Never>? in
            guard let waiting = state.waiting else {
                state.unseen.formUnion(stations)
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: stations)
    }

    func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }

    func next() async -> Set<Station>? {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Set<Station>?? in
                if !state.unseen.isEmpty {
                    defer { state.unseen = [] }
                    return state.unseen
                }
                if state.isEnded { return .some(nil) }
                state.waiting = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
