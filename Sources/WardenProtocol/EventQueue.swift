import Performing
import Synchronization

/// Events on their way from the client's thread to the one task that reads them.
///
/// Above ``high`` the thread stops reading its sockets until the queue is below ``low``, so that a slow
/// reader slows the jobs' reports down instead of filling the memory.
final class EventQueue: Sendable {
    static let high = 4096
    static let low = 1024

    private struct State {
        var events: [PerformerEvent] = []
        var start = 0
        var reader: CheckedContinuation<Void, Never>?
        var isFinished = false
        var isStopped = false

        var count: Int { events.count - start }

        /// At most `most` of those that wait.
        mutating func take(_ most: Int) -> [PerformerEvent] {
            let taken = Array(events[start...].prefix(most))
            start += taken.count
            if start == events.count {
                events.removeAll(keepingCapacity: events.count < high)
                start = 0
            } else if start >= high {
                events.removeSubrange(..<start)
                start = 0
            }
            return taken
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

    func add(_ event: PerformerEvent) { add([event]) }

    /// The reader is woken once, and finds them all.
    func add(_ events: [PerformerEvent]) {
        guard !events.isEmpty else { return }
        let reader = state.withLock { state in
            if !state.isFinished { state.events += events }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Ends the stream once everything in it has been read.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The next event; nil at the end, and when the reading task is canceled.
    func next() async -> PerformerEvent? { await next(1)?.first }

    /// The next events, all that wait but at most ``low``; nil at the end, and when the reading task is canceled.
    func nextAll() async -> [PerformerEvent]? { await next(Self.low) }

    private func next(_ most: Int) async -> [PerformerEvent]? {
        while true {
            if Task.isCancelled { return nil }
            let (taken, isFinished, mustResume) = state.withLock { state in
                let taken = state.take(most)
                let mustResume = state.isStopped && !taken.isEmpty && state.count < Self.low
                if mustResume { state.isStopped = false }
                return (taken, state.isFinished, mustResume)
            }
            if mustResume { resume() }
            if !taken.isEmpty { return taken }
            if isFinished { return nil }
            await wait()
        }
    }

    /// Waits until there is an event, or the end, or the reading task is canceled.
    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isOver = state.withLock { state in
                    // Looked at under the lock: a cancellation after this finds the reader below.
                    if Task.isCancelled || state.count > 0 || state.isFinished { return true }
                    state.reader = reader
                    return false
                }
                if isOver { reader.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }
}
