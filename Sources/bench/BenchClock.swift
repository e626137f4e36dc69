import Synchronization
import Timeline

/// A clock whose time is moved by hand.
final class BenchClock: WallClock {
    private struct State {
        var now: Moment
        var sleepers: [UInt64: (until: Moment, wake: CheckedContinuation<Void, Never>)] = [:]
        var lastID: UInt64 = 0
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ now: Moment) {
        state = Mutex(State(now: now))
    }

    var now: Moment { state.withLock { $0.now } }
    var sinceBoot: Duration { now - Moment(seconds: 0) }

    func sleep(until moment: Moment) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, watcher) = state.withLock { state in
                    if state.now >= moment || Task.isCancelled {
                        return (true, nil as CheckedContinuation<Void, Never>?)
                    }
                    state.sleepers[id] = (moment, continuation)
                    defer { state.watcher = nil }
                    return (false, state.watcher)
                }
                if isOver { continuation.resume() }
                watcher?.resume()
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.wake.resume()
        }
        try Task.checkCancellation()
    }

    /// Returns when somebody sleeps.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isAsleep = state.withLock { state in
                if !state.sleepers.isEmpty { return true }
                state.watcher = continuation
                return false
            }
            if isAsleep { continuation.resume() }
        }
    }

    func advance(to moment: Moment) {
        let due = state.withLock { state in
            state.now = moment
            let due = state.sleepers.filter { $0.value.until <= moment }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        for sleeper in due { sleeper.resume() }
    }
}
