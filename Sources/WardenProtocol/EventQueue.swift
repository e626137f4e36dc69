import Synchronization

/// Events on their way from the client's thread to the one task that reads them.
///
/// Above ``high`` the thread stops reading its sockets until the queue is below ``low``, so that a slow
/// reader slows the jobs' reports down instead of filling the memory.
final class EventQueue: Sendable {
    static let high = 4096
    static let low = 1024

    private struct State {
        var events: [WardenEvent] = []
        var start = 0
        var reader: CheckedContinuation<WardenEvent?, Never>?
        var isFinished = false
        var isStopped = false

        var count: Int { events.count - start }

        mutating func take() -> WardenEvent? {
            guard start < events.count else { return nil }
            defer {
                start += 1
                if start == events.count {
                    events.removeAll(keepingCapacity: events.count < high)
                    start = 0
                } else if start == high {
                    events.removeSubrange(..<start)
                    start = 0
                }
            }
            return events[start]
        }
    }

    private let state = Mutex(State())
    private let resume: @Sendable () -> Void

    /// Calls `resume` when the reader has caught up after ``mayReceive`` said no.
    init(resume: @escaping @Sendable () -> Void) {
        self.resume = resume
    }

    /// Whether the thread may read more.
    ///
    /// After a no, `resume` is called once.
    var mayReceive: Bool {
        state.withLock { state in
            state.isStopped = state.count >= Self.high
            return !state.isStopped
        }
    }

    func add(_ event: WardenEvent) {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            if state.reader == nil, !state.isFinished { state.events.append(event) }
            return state.reader
        }
        reader?.resume(returning: event)
    }

    /// Ends the stream once everything in it has been read.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// The next event; nil at the end, and when the reading task is canceled.
    func next() async -> WardenEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                enum Outcome { case event(WardenEvent?, mustResume: Bool), waits }
                let outcome: Outcome = state.withLock { state in
                    // Looked at under the lock: a cancellation after this finds the reader below.
                    if Task.isCancelled { return .event(nil, mustResume: false) }
                    if let event = state.take() {
                        let mustResume = state.isStopped && state.count < Self.low
                        if mustResume { state.isStopped = false }
                        return .event(event, mustResume: mustResume)
                    }
                    if state.isFinished { return .event(nil, mustResume: false) }
                    state.reader = reader
                    return .waits
                }
                guard case .event(let event, let mustResume) = outcome else { return }
                reader.resume(returning: event)
                if mustResume { resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
