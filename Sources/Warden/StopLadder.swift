import Host
import Performing

/// How a run is ended: asked at its timeout, on a cancel or when it is lost, killed after its grace, given up on at
/// last.
///
/// Times are since boot. A pure value: what happened in, what to do out.
struct StopLadder: Hashable {
    enum Rung: Hashable {
        /// Runs, until `until` or for ever. Becomes `.asked`.
        case running(until: Duration?)
        /// TERM was sent. Becomes `.killed` at `killAt`.
        case asked(killAt: Duration)
        /// KILL was sent, again at `retryAt` when something is left. Becomes `.given` after ten times.
        case killed(retryAt: Duration, times: Int)
        /// What is left cannot be killed: it waits in the kernel, or belongs to another user.
        case given
    }

    enum Cause: Hashable {
        case timeout
        case canceled(String)
        /// Its first process has ended, and nobody knows how.
        case lost
    }

    enum Action: Hashable {
        /// Ask the whole tree to end.
        case terminate
        /// Kill the whole tree.
        case kill
        /// Stop waiting for the tree.
        case giveUp
    }

    private(set) var rung: Rung
    private(set) var cause: Cause?
    /// Since when it is paused; its time stands still from then on.
    private(set) var pausedAt: Duration?
    private let grace: Duration

    init(startedAt: Duration, timeout: Duration?, grace: Duration) {
        rung = .running(until: timeout.map { startedAt + $0 })
        self.grace = grace
    }

    /// Whether the run is being ended, so that its whole tree must go before it counts as ended.
    var isStopping: Bool { cause != nil }

    /// When ``advance(to:)`` has something to do, nil when never.
    var deadline: Duration? {
        switch rung {
        case .running(let until): pausedAt == nil ? until : nil
        case .asked(let killAt): killAt
        case .killed(let retryAt, _): retryAt
        case .given: nil
        }
    }

    /// The run is to be canceled.
    ///
    /// The first cause stands.
    mutating func cancel(_ reason: String, at now: Duration) -> Action? {
        guard case .running = rung else { return nil }
        return begin(.canceled(reason), at: now)
    }

    /// The run's first process ended unseen: what it left behind is ended, too.
    ///
    /// The first cause stands.
    mutating func lose(at now: Duration) -> Action? {
        guard case .running = rung else { return nil }
        return begin(.lost, at: now)
    }

    /// The run is stopped for a while.
    ///
    /// - Returns: false when it is being ended; then it is not.
    mutating func pause(at now: Duration) -> Bool {
        guard case .running = rung else { return false }
        pausedAt = pausedAt ?? now
        return true
    }

    /// The run goes on, with as much time left as it had.
    ///
    /// - Returns: false when it was not paused.
    mutating func resume(at now: Duration) -> Bool {
        guard let since = pausedAt else { return false }
        pausedAt = nil
        if case .running(let until?) = rung { rung = .running(until: until + max(.zero, now - since)) }
        return true
    }

    /// Time has passed.
    mutating func advance(to now: Duration) -> Action? {
        guard let deadline, deadline <= now else { return nil }
        switch rung {
        case .running: return begin(.timeout, at: now)
        case .asked: return kill(at: now, times: 1)
        case .killed(_, let times) where times < 10: return kill(at: now, times: times + 1)
        case .killed, .given:
            rung = .given
            return .giveUp
        }
    }

    private mutating func begin(_ cause: Cause, at now: Duration) -> Action {
        self.cause = cause
        pausedAt = nil
        guard grace > .zero else { return kill(at: now, times: 1) }
        rung = .asked(killAt: now + grace)
        return .terminate
    }

    private mutating func kill(at now: Duration, times: Int) -> Action {
        rung = .killed(retryAt: now + .milliseconds(100), times: times)
        return .kill
    }
}

/// What earlier attempts left running, and what is being ended of it.
final class Predecessors {
    /// How many processes a refusal names.
    private static let most = 3

    private let groups: ControlGroups
    /// What is being ended, by the run's id.
    private var endings: [String: (tree: ProcessTree, ladder: StopLadder)] = [:]

    init(groups: ControlGroups) { self.groups = groups }

    /// Refuses an attempt while a process of an earlier one still runs: its work would be done twice at a time.
    ///
    /// An order with a `leftoverGrace` also ends those processes.
    func check(_ order: ProcessOrder) throws(StartRefused) {
        let key = order.key
        guard key.attempt > 1 else { return }
        let left = processes(of: key.run)
        guard !left.isEmpty else {
            endings[key.run] = nil
            return
        }
        if let grace = order.leftoverGrace { end(key.run, grace: grace, at: .sinceBoot) }
        throw StartRefused(.stillAlive, Self.sentence(about: left))
    }

    /// When ``advance(to:)`` has something to do, since boot; nil: never.
    var deadline: Duration? { endings.values.compactMap(\.ladder.deadline).min() }

    /// Kills what did not end on request.
    func advance(to now: Duration) {
        for (run, var ending) in endings where ending.ladder.deadline.map({ $0 <= now }) ?? false {
            ending.tree.obey(ending.ladder.advance(to: now))
            let isDone = ending.ladder.rung == .given || ending.tree.liveMembers().isEmpty
            endings[run] = isDone ? nil : ending
        }
    }

    /// Begins to end the run's processes, unless that is under way; after `grace` they are killed.
    private func end(_ run: String, grace: Duration, at now: Duration) {
        guard endings[run] == nil else { return }
        let tree = ProcessTree(
            leader: -1, startTime: 0, mark: ProcessTree.mark(of: run), reaper: nil,
            group: groups.group(leftBy: run))
        var ending = (tree: tree, ladder: StopLadder(startedAt: now, timeout: nil, grace: grace))
        ending.tree.obey(ending.ladder.lose(at: now))
        endings[run] = ending
    }

    /// The processes of earlier attempts of the run: those that bear its mark, and those in its control groups.
    private func processes(of run: String) -> [ProcessEntry] {
        let mark = ProcessTree.mark(of: run)
        let grouped = groups.processes(leftBy: run)
        return ((try? ProcessTable.all()) ?? []).filter {
            !$0.isZombie && (grouped.contains($0.pid) || ProcessTable.process($0.pid, wasStartedWith: mark))
        }
    }

    private static func sentence(about left: [ProcessEntry]) -> String {
        let named = left.prefix(most).map { "\($0.pid) (\($0.name))" }.joined(separator: ", ")
        let more = left.count > most ? " and \(left.count - most) more" : ""
        return left.count == 1
            ? "process \(named) of an earlier attempt still runs"
            : "processes \(named)\(more) of an earlier attempt still run"
    }
}
