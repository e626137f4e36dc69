import Glibc
import Host
import Performing

/// What earlier attempts of a run left running, while it is being ended.
struct Leftovers {
    var tree: ProcessTree
    var ladder: StopLadder
}

extension Warden {
    /// How many processes a refusal names.
    private static let namedLeftovers = 3

    /// Nothing is done a second time while somebody is still at it: an attempt waits for every process of
    /// those before it.
    func checkPredecessors(of order: ProcessOrder) throws(StartRefused) {
        let key = order.key
        guard key.attempt > 1 else { return }
        let left = predecessors(of: key.run)
        guard !left.isEmpty else {
            endings[key.run] = nil
            return
        }
        if let grace = order.leftoverGrace { end(leftBy: key.run, grace: grace) }
        throw StartRefused(.stillAlive, Self.words(for: left))
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

    private static func words(for left: [ProcessEntry]) -> String {
        let named = left.prefix(namedLeftovers).map { "\($0.pid) (\($0.name))" }.joined(separator: ", ")
        let more = left.count > namedLeftovers ? " and \(left.count - namedLeftovers) more" : ""
        return left.count == 1
            ? "process \(named) of an earlier attempt still runs"
            : "processes \(named)\(more) of an earlier attempt still run"
    }

    /// Begins to end what earlier attempts of the run left running, unless that is under way.
    private func end(leftBy run: String, grace: Duration) {
        guard endings[run] == nil else { return }
        let now = Duration.sinceBoot
        var ending = Leftovers(
            tree: ProcessTree(
                leader: -1, startTime: 0, mark: Self.mark(of: run), reaper: nil,
                group: groups.group(leftBy: run)),
            ladder: StopLadder(startedAt: now, timeout: nil, grace: grace))
        Self.act(ending.ladder.lose(at: now), on: &ending.tree)
        endings[run] = ending
    }

    /// When ``keepEndings(_:)`` has something to do, since boot; nil: never.
    var endingDeadline: Duration? { endings.values.compactMap(\.ladder.deadline).min() }

    /// Kills what did not end when it was asked to.
    func keepEndings(_ now: Duration) {
        for (run, var ending) in endings where ending.ladder.deadline.map({ $0 <= now }) ?? false {
            Self.act(ending.ladder.advance(to: now), on: &ending.tree)
            let isOver = ending.ladder.rung == .given || ending.tree.look().isEmpty
            endings[run] = isOver ? nil : ending
        }
    }

    private static func act(_ action: StopLadder.Action?, on tree: inout ProcessTree) {
        switch action {
        case .terminate: tree.terminate()
        case .kill: tree.kill()
        case .giveUp, nil: break
        }
    }
}
