import Synchronization
import Timeline

/// The pauses that are being made, all of which can be ended at once.
final class Pauses: Sendable {
    private struct State {
        var ends: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let clock: any WallClock

    init(clock: any WallClock) {
        self.clock = clock
    }

    /// Waits for `duration`, or until the pauses are ended.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func rest(for duration: Duration) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pause = state.withLock { state in
            state.count += 1
            state.ends[state.count] = end
            return state.count
        }
        defer { state.withLock { $0.ends[pause] = nil } }
        let until = clock.now + duration
        try await withThrowingTaskGroup { group in
            group.addTask { [clock] in try await clock.sleep(until: until) }
            group.addTask { for await _ in ends {} }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    /// Ends the pauses that are being made.
    func end() {
        for end in state.withLock({ $0.ends.values.map(\.self) }) { end.finish() }
    }
}

/// How long to wait before the bus is tried again: a second, twice as long each time, a minute at most.
struct Backoff {
    private var upcoming = Duration.seconds(1)

    /// The next wait; the one after is twice as long, up to a minute.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, .seconds(60)) }
        return upcoming
    }
}
