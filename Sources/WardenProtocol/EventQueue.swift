import Performing
import Synchronization

/// Events on their way from the client's thread to the one task that reads them, one by one or all at once.
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
        /// Whether something was added since ``waitForNews()`` last returned.
        var hasNews = false
        var isFinished = false
        var isStopped = false

        var count: Int { events.count - start }
        var hasEvents: Bool { count > 0 }

        /// At most `most` of those that wait.
        mutating func removeFirst(_ most: Int) -> [PerformerEvent] {
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

    /// Calls `resume` when the reader has caught up after ``mayReceive`` was false.
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
            if !state.isFinished {
                state.events += events
                state.hasNews = true
            }
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
    func next() async -> PerformerEvent? {
        while !Task.isCancelled {
            if let event = next(1).first { return event }
            if state.withLock({ $0.isFinished }) { return nil }
            await wait(until: \.hasEvents)
        }
        return nil
    }

    /// All events that wait.
    func takeAll() -> [PerformerEvent] { next(.max) }

    /// Returns once events were added that it has not reported before.
    ///
    /// - Returns: false at the end, and when the reading task is canceled.
    func waitForNews() async -> Bool {
        while !Task.isCancelled {
            let (hasNews, isFinished) = state.withLock { state in
                defer { state.hasNews = false }
                return (state.hasNews, state.isFinished)
            }
            if hasNews { return true }
            if isFinished { return false }
            await wait(until: \.hasNews)
        }
        return false
    }

    private func next(_ most: Int) -> [PerformerEvent] {
        let (taken, mustResume) = state.withLock { state in
            let taken = state.removeFirst(most)
            let mustResume = state.isStopped && !taken.isEmpty && state.count < Self.low
            if mustResume { state.isStopped = false }
            return (taken, mustResume)
        }
        if mustResume { resume() }
        return taken
    }

    /// Waits until `isTrue`, or the end, or the reading task is canceled.
    private func wait(until isTrue: (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isOver = state.withLock { state in
                    // Looked at under the lock: a cancellation after this finds the reader below.
                    if Task.isCancelled || isTrue(state) || state.isFinished { return true }
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
