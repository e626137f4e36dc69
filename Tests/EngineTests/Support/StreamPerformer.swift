import Engine
import Performing
import Synchronization
import Timeline
import Tracking

extension PerformerKind {
    /// The test's own performer, which works inside the daemon.
    static let stream = PerformerKind("stream")
}

/// What a test's performer reports, until the keeper takes it.
final class PerformerReports: Sendable {
    private let events: Mutex<[PerformerEvent]>
    private let (arrivals, arrived) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// The first reports; none unless given.
    init(_ first: [PerformerEvent] = []) {
        events = Mutex(first)
        if !first.isEmpty { arrived.yield() }
    }

    func add(_ more: [PerformerEvent]) {
        events.withLock { $0 += more }
        arrived.yield()
    }

    func wait() async -> Bool {
        for await _ in arrivals { return true }
        return false
    }

    func take() -> [PerformerEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

/// Performs attempts in tasks of the daemon, as a bot's API would be read: each line of a shell's text is a report, and
/// `wait` waits for ``proceed()``, and `busy N` ends a first attempt with the request to wait N seconds.
///
/// Ends with the daemon: another instance knows nothing of its attempts.
final class StreamPerformer: Performer {
    private struct State {
        var running: [RunKey: Task<Void, Never>] = [:]
        var ended: [RunKey: ExitRecord] = [:]
        var refusedConnections: Int
    }

    let survivesTheDaemon = false
    private let state: Mutex<State>
    private let reports = PerformerReports()
    private let clock: any WallClock
    private let (proceeding, proceeds) = AsyncStream.makeStream(of: Void.self)

    /// A performer that can't be reached the first times.
    init(clock: any WallClock, refusedConnections: Int = 0) {
        self.clock = clock
        state = Mutex(State(refusedConnections: refusedConnections))
    }

    /// An attempt that waits goes on.
    func proceed() { proceeds.yield() }

    /// How often it was ordered to start something that is not acknowledged.
    var held: Int { state.withLock { $0.running.count + $0.ended.count } }

    // MARK: Performer

    func connect() async throws -> Int32? {
        let isRefused = state.withLock { state in
            state.refusedConnections -= 1
            return state.refusedConnections >= 0
        }
        if isRefused { throw NoStream() }
        for key in state.withLock({ Array($0.running.keys) + Array($0.ended.keys) }) { ask(key) }
        reports.add([.caughtUp])
        return nil
    }

    func start(_ order: AttemptOrder) {
        guard case .process(let process) = order, case .shell(let text) = process.work else {
            reports.add([.refused(order.key, .badOrder, text: "no text")])
            return
        }
        state.withLock { state in
            guard state.running[order.key] == nil, state.ended[order.key] == nil else { return }
            reports.add([.started(order.key, process: nil, at: clock.now)])
            state.running[order.key] = Task {
                await perform(text.split(separator: "\n"), order.key, clock.now)
            }
        }
    }

    func cancel(_ key: RunKey, reason: String) {
        guard let task = state.withLock({ $0.running[key] }) else { return ask(key) }
        task.cancel()
    }

    func ask(_ key: RunKey) {
        state.withLock { state in
            let isRunning = state.running[key] != nil
            let event =
                state.ended[key].map(PerformerEvent.ended)
                ?? (isRunning ? .started(key, process: nil, at: clock.now) : .unknown(key))
            reports.add([event])
        }
    }

    func acknowledge(_ key: RunKey) { state.withLock { _ = $0.ended.removeValue(forKey: key) } }

    func waitForEvents() async -> Bool { await reports.wait() }

    func takeEvents() -> [PerformerEvent] { reports.take() }

    // MARK: An attempt

    private func perform(_ lines: [Substring], _ key: RunKey, _ start: Moment) async {
        var fault: AttemptFault?
        for line in lines where !Task.isCancelled {
            if line.hasPrefix("busy "), let seconds = Int64(line.dropFirst(5)) {
                guard key.attempt == 1 else { continue }
                fault = AttemptFault(.rateLimited, "busy", mayPass: true, wait: .seconds(seconds))
            } else if line == "wait" {
                for await _ in proceeding { break }
            } else {
                reports.add([.report(key, line: Array(line.utf8))])
            }
        }
        let isCanceled = Task.isCancelled
        var record = ExitRecord(
            key: key, cause: isCanceled ? .canceled : .exited,
            exitCode: isCanceled || fault != nil ? nil : 0, startedAt: start, endedAt: clock.now)
        record.fault = isCanceled ? nil : fault
        state.withLock { state in
            state.running[key] = nil
            state.ended[key] = record
            reports.add([.ended(record)])
        }
    }
}

private struct NoStream: Error, CustomStringConvertible {
    let description = "nothing listens"
}
