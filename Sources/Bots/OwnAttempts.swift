package import Performing
import Synchronization
import Timeline

/// A performer that works inside the daemon: an attempt is a task of it, and ends with it.
///
/// It says how an attempt is begun; all else is ``OwnAttempts``.
package protocol TaskPerformer: Performer {
    /// Its attempts.
    var attempts: OwnAttempts { get }
}

extension TaskPerformer {
    package var survivesTheDaemon: Bool { false }

    package func connect() async throws -> Int32? {
        attempts.reportAll()
        return nil
    }

    package func cancel(_ key: RunKey, reason: String) { attempts.cancel(key, reason: reason) }

    package func ask(_ key: RunKey) { attempts.ask(key) }

    package func acknowledge(_ key: RunKey) { attempts.acknowledge(key) }

    package func waitForEvents() async -> Bool { await attempts.waitForEvents() }

    package func takeEvents() -> [PerformerEvent] { attempts.takeEvents() }
}

/// The attempts of a performer that works inside the daemon: which are at work, how the others ended, and what is to be
/// reported of both.
package final class OwnAttempts: Sendable {
    private struct State {
        var running: [RunKey: (task: Task<Void, Never>, start: Moment)] = [:]
        var ended: [RunKey: ExitRecord] = [:]
        var cancelReasons: [RunKey: String] = [:]
        var events: [PerformerEvent] = []
    }

    private let state = Mutex(State())
    private let (arrivals, arrived) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Reports all attempts that are known.
    func reportAll() {
        for key in state.withLock({ Array($0.running.keys) + Array($0.ended.keys) }) { ask(key) }
        report(.caughtUp)
    }

    /// Starts an attempt, and reports of one that is known already what is true now; `work` returns how it ended.
    func begin(_ key: RunKey, at start: Moment, _ work: @escaping @Sendable () async -> ExitRecord) {
        let isNew = state.withLock { state in
            guard state.running[key] == nil, state.ended[key] == nil else { return false }
            state.events.append(.started(key, process: nil, at: start))
            state.running[key] = (Task { finish(await work(), isCanceled: Task.isCancelled) }, start)
            return true
        }
        if isNew { arrived.yield() } else { ask(key) }
    }

    func cancel(_ key: RunKey, reason: String) {
        let task = state.withLock { state in
            if state.running[key] != nil { state.cancelReasons[key] = reason }
            return state.running[key]?.task
        }
        guard let task else { return ask(key) }
        task.cancel()
    }

    func ask(_ key: RunKey) {
        state.withLock { state in
            let event =
                state.ended[key].map(PerformerEvent.ended)
                ?? state.running[key].map { .started(key, process: nil, at: $0.start) } ?? .unknown(key)
            state.events.append(event)
        }
        arrived.yield()
    }

    func acknowledge(_ key: RunKey) { state.withLock { _ = $0.ended.removeValue(forKey: key) } }

    func waitForEvents() async -> Bool {
        for await _ in arrivals { return true }
        return false
    }

    func takeEvents() -> [PerformerEvent] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    func report(_ event: PerformerEvent) {
        state.withLock { state in
            // How far an attempt is takes the place of an earlier report that nobody has taken.
            if case .progress(let key, _) = event, case .progress(key, _)? = state.events.last {
                state.events.removeLast()
            }
            state.events.append(event)
        }
        arrived.yield()
    }

    private func finish(_ ended: ExitRecord, isCanceled: Bool) {
        var record = ended
        state.withLock { state in
            let reason = state.cancelReasons.removeValue(forKey: record.key)
            if isCanceled {
                (record.cause, record.cancelReason) = (.canceled, reason)
                (record.fault, record.exitCode) = (nil, nil)
                // What was said is not all, even if nothing was to follow.
                if let reply = record.reply { (record.partialReply, record.reply) = (reply, nil) }
            }
            state.running[record.key] = nil
            state.ended[record.key] = record
            state.events.append(.ended(record))
        }
        arrived.yield()
    }
}
