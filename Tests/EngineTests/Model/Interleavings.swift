import Delivery
import Ledger
import Testing
import Timeline
import Tracking

@testable import Engine

/// Every interleaving of one slot's life, the daemon and the warden killed at every boundary of a commit or a message.
@Suite(.timeLimit(.minutes(5)))
struct `one slot, whoever is killed and when` {
    /// Looks at every world that can come about; returns those in which nothing happens any more.
    private func explore(_ start: World, _ look: (World) -> String?) -> (worlds: Int, last: [World]) {
        var before: [World: World] = [start: start]
        var open = [start]
        var last: [World] = []
        while let world = open.popLast() {
            if let fault = look(world) {
                Issue.record("\(fault):\n\(way(to: world, before))")
                return (before.count, last)
            }
            let steps = world.daemonSteps() + world.wardenSteps() + world.lateArrivals()
            if steps.isEmpty { last.append(world) }
            for next in steps + world.daemonCrashed() + world.wardenCrashed()
            where before[next] == nil {
                before[next] = world
                open.append(next)
            }
        }
        for world in last {
            guard let fault = fault(atTheEndOf: world) else { continue }
            Issue.record("\(fault):\n\(way(to: world, before))")
            break
        }
        return (before.count, last)
    }

    /// The worlds that lead to one, a line each.
    private func way(to world: World, _ before: [World: World]) -> String {
        var way = [world]
        while let world = way.last, let previous = before[world], previous != world { way.append(previous) }
        return way.reversed().map(\.description).joined(separator: "\n")
    }

    /// What must be true of every world.
    private func fault(in world: World) -> String? {
        if world.executed.values.contains(where: { $0 > 1 }) { return "an attempt was executed twice" }
        if world.executed.count > world.rules.attempts { return "more attempts than allowed" }
        if world.alive.union(world.left).count > 1 { return "two attempts are at it together" }
        let ends: Set<EventType> = [.runCompleted, .runFailed, .runCanceled, .runLost]
        if world.reported.count(where: ends.contains) > 1 { return "its end is reported twice" }
        if world.reported.count(where: { $0 == .runStarted }) > 1 { return "its start is reported twice" }
        if world.run?.state.isEnded == true, !world.reported.contains(where: ends.contains) {
            return "its end is not reported"
        }
        return nil
    }

    /// What must be true when nothing happens any more.
    private func fault(atTheEndOf world: World) -> String? {
        guard let run = world.run else { return "the slot is lost" }
        if !run.state.isEnded { return "the run hangs" }
        if run.state == .completed, world.executed[run.attempt] != 1 {
            return "completed, and never executed"
        }
        if !world.records.isEmpty { return "a record is kept for ever" }
        return nil
    }

    @discardableResult
    private func check(_ start: World) -> [World] {
        let (worlds, last) = explore(start) { fault(in: $0) }
        #expect(worlds > 50 && !last.isEmpty)
        return last
    }

    private func states(_ worlds: [World]) -> Set<RunState> { Set(worlds.compactMap { $0.run?.state }) }

    @Test func `is executed once and completes, when the daemon is killed three times`() {
        let last = check(World(.init(), daemonCrashes: 3, wardenCrashes: 0))
        #expect(states(last) == [.completed])
        #expect(last.allSatisfy { $0.executed == [1: 1] && $0.reported == [.runStarted, .runCompleted] })
    }

    @Test func `is executed once at most, when the warden is killed as well`() {
        let last = check(World(.init(), daemonCrashes: 2, wardenCrashes: 2))
        #expect(states(last) == [.completed, .lost])
    }

    @Test func `is tried again after a failure, never two attempts together`() {
        let rules = World.Rules(attempts: 2, exitCode: 1)
        let last = check(World(rules, daemonCrashes: 2, wardenCrashes: 0, leaves: true))
        #expect(states(last) == [.failed])
        #expect(last.allSatisfy { $0.executed == [1: 1, 2: 1] && $0.attempts == [1: .failed, 2: .failed] })
    }

    @Test func `is tried again once what was left behind is ended, never two attempts together`() {
        let rules = World.Rules(attempts: 2, stays: true, exitCode: 1)
        let last = check(World(rules, daemonCrashes: 1, wardenCrashes: 1, leaves: true))
        #expect(states(last).isSubset(of: [.failed, .lost]))
        #expect(last.contains { $0.executed == [1: 1, 2: 1] })
    }

    @Test func `ends when what was left behind stays and may not be ended`() {
        let policy = LeftoverPolicy(wait: .seconds(30), then: .fail)
        let rules = World.Rules(attempts: 2, stays: true, leftovers: policy, exitCode: 1)
        let last = check(World(rules, daemonCrashes: 2, wardenCrashes: 0, leaves: true))
        #expect(states(last) == [.failed])
        #expect(last.allSatisfy { $0.executed == [1: 1] && $0.run?.reason == .leftovers })
        #expect(last.allSatisfy { $0.reported == [.runStarted, .runFailed] && !$0.left.isEmpty })
    }

    @Test func `is tried again after a loss where the job asks for it, never two attempts together`() {
        let rules = World.Rules(attempts: 2, retriesLost: true)
        let last = check(World(rules, daemonCrashes: 1, wardenCrashes: 2, leaves: true))
        #expect(states(last) == [.completed, .lost])
        #expect(last.contains { $0.attempts == [1: .lost, 2: .completed] })
    }

    @Test func `ends by a person's word, which no crash undoes`() {
        let last = check(World(.init(), daemonCrashes: 2, wardenCrashes: 0, cancels: true))
        #expect(states(last) == [.completed, .canceled])
        // A run that was not done when the request arrived did not complete.
        #expect(last.contains { $0.run?.state == .canceled && $0.executed.isEmpty })
        #expect(last.contains { $0.run?.state == .canceled && $0.executed == [1: 1] })
    }
}
