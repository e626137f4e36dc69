import Synchronization
import Timeline

/// Wakes one loop: when somebody rings, or when the wall clock shows a moment, whichever comes first.
///
/// Rings are conflated: any number of them before a wait end that wait once. One loop waits at a time.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    init() {}

    /// Ends the wait under way, or the next one.
    func ring() {
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
    func wait(until moment: Moment?, on clock: any WallClock) async throws {
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
