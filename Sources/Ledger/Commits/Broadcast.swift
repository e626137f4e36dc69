import Synchronization

/// Publishes values to any number of listeners, conflated: a slow one gets all that it missed as one value.
///
/// ```swift
/// let touched = Broadcast<Set<Station>> { $0.formUnion($1) }
/// for await stations in touched.values() { ... }
/// ```
package final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var listeners: [WeakListener<Value>] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let merge: @Sendable (inout Value, Value) -> Void

    /// `merge` adds a newer value to one that nobody has read yet; left out, the newer one replaces it.
    package init(merging merge: @escaping @Sendable (inout Value, Value) -> Void = { $0 = $1 }) {
        self.merge = merge
    }

    deinit { end() }

    /// Everything published from now on, after `first` where it is given.
    ///
    /// Ends with ``end()``, and when its reader is cancelled.
    package func values(first: Value? = nil) -> AsyncStream<Value> {
        let listener = Listener(first, merge: merge)
        add(listener)
        return AsyncStream {
            await withTaskCancellationHandler {
                await listener.next()
            } onCancel: {
                listener.end()
            }
        }
    }

    /// Calls `notify` with each value published from now on, in order, on the thread that publishes it: `notify` must be
    /// short and must not wait.
    ///
    /// A reader of ``values(first:)`` is a task that has to be woken; this is for what only passes the news on.
    package func observe(_ notify: @escaping @Sendable (Value) -> Void) -> Observation {
        let listener = Listener(nil, merge: merge, notify: notify)
        add(listener)
        return Observation {
            await withTaskCancellationHandler {
                _ = await listener.next()
            } onCancel: {
                listener.end()
            }
        }
    }

    package func publish(_ value: Value) {
        for listener in listeners() { listener.publish(value) }
    }

    /// Ends every stream, after what was published before.
    package func end() {
        state.withLock { $0.isEnded = true }
        for listener in listeners() { listener.end() }
    }

    private func add(_ listener: Listener<Value>) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.listeners.append(WeakListener(listener: listener)) }
            return state.isEnded
        }
        if isEnded { listener.end() }
    }

    private func listeners() -> [Listener<Value>] {
        state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            // No key path: in a generic type each use of one makes it anew.
            return state.listeners.compactMap { $0.listener }
        }
    }
}

/// Values are passed on as long as it lives.
package struct Observation: Sendable {
    /// Returns when nothing is published any more, or when the task is cancelled; then nothing is passed on either.
    package let waitForEnd: @Sendable () async -> Void
}

/// Held weakly: a stream that nobody iterates any more ends the listener with itself.
private struct WeakListener<Value: Sendable> {
    weak let listener: Listener<Value>?
}

/// One stream's side: what it has not read yet, or the reader that waits for it.
private final class Listener<Value: Sendable>: Sendable {
    private struct State {
        var unread: Value?
        var isEnded = false
        var reader: CheckedContinuation<Value?, Never>?
    }

    private let state: Mutex<State>
    private let merge: @Sendable (inout Value, Value) -> Void
    /// Gets what is published; nil: the reader does.
    private let notify: (@Sendable (Value) -> Void)?

    init(
        _ first: Value?, merge: @escaping @Sendable (inout Value, Value) -> Void,
        notify: (@Sendable (Value) -> Void)? = nil
    ) {
        state = Mutex(State(unread: first))
        self.merge = merge
        self.notify = notify
    }

    func publish(_ value: Value) {
        if let notify {
            if !state.withLock({ $0.isEnded }) { notify(value) }
            return
        }
        let reader = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            guard var unread = state.unread else {
                state.unread = value
                return nil
            }
            merge(&unread, value)
            state.unread = unread
            return nil
        }
        reader?.resume(returning: value)
    }

    func end() {
        let reader = state.withLock { state in
            state.isEnded = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    func next() async -> Value? {
        await withCheckedContinuation { reader in
            let answer = state.withLock { state -> Value?? in
                if let unread = state.unread {
                    state.unread = nil
                    return .some(unread)
                }
                if state.isEnded { return .some(nil) }
                state.reader = reader
                return nil
            }
            if let answer { reader.resume(returning: answer) }
        }
    }
}

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
    private let current = Mutex(StoreCondition.sound)
    private let changes = Broadcast<StoreCondition>()

    var condition: StoreCondition { current.withLock { $0 } }

    func note(_ condition: StoreCondition) {
        current.withLock { current in
            guard current != condition else { return }
            current = condition
            changes.publish(condition)
        }
    }

    /// The condition at once, then each change; a slow listener sees the newest.
    func conditions() -> AsyncStream<StoreCondition> {
        current.withLock { changes.values(first: $0) }
    }

    func end() { changes.end() }
}
