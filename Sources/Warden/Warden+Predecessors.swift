import Glibc
import Host
import Performing

/// What earlier attempts left running and what is being ended of it, by the run's id.
struct PredecessorEndings {
    private var endings: [String: (tree: ProcessTree, ladder: StopLadder)] = [:]

    /// Begins to end the processes of `tree`, unless that is under way; after `grace` they are killed.
    mutating func begin(_ run: String, grace: Duration, at now: Duration, tree: () -> ProcessTree) {
        guard endings[run] == nil else { return }
        var ending = (tree: tree(), ladder: StopLadder(startedAt: now, timeout: nil, grace: grace))
        ending.tree.obey(ending.ladder.lose(at: now))
        endings[run] = ending
    }

    /// Nothing is left of the run's earlier attempts.
    mutating func forget(_ run: String) { endings[run] = nil }

    /// When ``advance(to:)`` has something to do, since boot; nil: never.
    var deadline: Duration? { endings.values.compactMap(\.ladder.deadline).min() }

    /// Kills what did not end on request.
    mutating func advance(to now: Duration) {
        for (run, var ending) in endings where ending.ladder.deadline.map({ $0 <= now }) ?? false {
            ending.tree.obey(ending.ladder.advance(to: now))
            let isDone = ending.ladder.rung == .given || ending.tree.look().isEmpty
            endings[run] = isDone ? nil : ending
        }
    }
}

extension Warden {
    /// How many processes a refusal names.
    private static let namedLeftovers = 3

    /// An attempt does not start while a process of an earlier one still runs: its work would be done twice at a time.
    func checkPredecessors(of order: ProcessOrder) throws(StartRefused) {
        let key = order.key
        guard key.attempt > 1 else { return }
        let left = predecessors(of: key.run)
        guard !left.isEmpty else {
            endings.forget(key.run)
            return
        }
        if let grace = order.leftoverGrace {
            endings.begin(key.run, grace: grace, at: .sinceBoot) {
                ProcessTree(
                    leader: -1, startTime: 0, mark: Self.mark(of: key.run), reaper: nil,
                    group: groups.group(leftBy: key.run))
            }
        }
        throw StartRefused(.stillAlive, Self.sentence(about: left))
    }

    /// The processes of earlier attempts of the run: those that bear its mark, and those in its control groups.
    private func predecessors(of run: String) -> [ProcessEntry] {
        let mark = Self.mark(of: run)
        let grouped = groups.processes(leftBy: run)
        return ((try? ProcessTable.all()) ?? []).filter {
            !$0.isZombie && (grouped.contains($0.pid) || ProcessTable.process($0.pid, wasStartedWith: mark))
        }
    }

    static func mark(of run: String) -> String { "BELFRY_RUN_ID=\(run)" }

    private static func sentence(about left: [ProcessEntry]) -> String {
        let named = left.prefix(namedLeftovers).map { "\($0.pid) (\($0.name))" }.joined(separator: ", ")
        let more = left.count > namedLeftovers ? " and \(left.count - namedLeftovers) more" : ""
        return left.count == 1
            ? "process \(named) of an earlier attempt still runs"
            : "processes \(named)\(more) of an earlier attempt still run"
    }
}
