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
        case .running(let until): until
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
        guard grace > .zero else { return kill(at: now, times: 1) }
        rung = .asked(killAt: now + grace)
        return .terminate
    }

    private mutating func kill(at now: Duration, times: Int) -> Action {
        rung = .killed(retryAt: now + .milliseconds(100), times: times)
        return .kill
    }
}
