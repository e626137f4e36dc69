import Performing

/// The attempts that are alive, by key and by the first process.
struct RunTable {
    private var runs: [RunKey: Run] = [:]
    private var keys: [Int32: RunKey] = [:]
    /// Runs of this round whose pipes nobody waits for yet: those that are short have ended when it has.
    private var fresh: [Run] = []

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }
    var values: some Collection<Run> { runs.values }

    subscript(key: RunKey) -> Run? { runs[key] }

    /// Takes in a run of an earlier warden: its processes are nobody's children here.
    mutating func adopt(_ run: Run) { runs[run.key] = run }

    /// Takes in a run that was started here.
    mutating func add(_ run: Run) {
        runs[run.key] = run
        keys[run.pid] = run.key
    }

    mutating func remove(_ run: Run) {
        runs[run.key] = nil
        keys[run.pid] = nil
    }

    mutating func remove(_ key: RunKey) { runs[key] = nil }

    /// The run whose first process this is, which has ended and is no longer looked for; nil: it is none.
    mutating func takeLeader(_ pid: Int32) -> Run? { keys.removeValue(forKey: pid).flatMap { runs[$0] } }

    /// Whether the process is the first one of a run.
    func isLeader(_ pid: Int32) -> Bool { keys[pid] != nil }

    /// Its pipes are watched at the end of the round, if it is still alive then.
    mutating func addFresh(_ run: Run) { fresh.append(run) }

    /// Whether a run of this round is not watched yet.
    var hasFresh: Bool { !fresh.isEmpty }

    /// The runs of this round that are still alive.
    mutating func takeFresh() -> [Run] {
        defer { fresh = [] }
        return fresh.filter { runs[$0.key] === $0 }
    }
}
